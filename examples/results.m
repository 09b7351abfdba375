% Results of noslip in Octave (and Matlab): a run written as CSV, read and looked at.
%     noslip run rattleback --until 10 --every 0.01 --out motion.csv
%     octave-cli results.m motion.csv
arguments = argv();
file = arguments{end};
lines = strsplit(strtrim(fileread(file)), "\n");
head = strsplit(lines{1}, ",");
comments = sum(strncmp(lines, "#", 1)); % units, model, parameters
data = dlmread(file, ",", 1 + comments, 0);
t = data(:, 1);
spin = data(:, find(strcmp(head, "omega.z")));
turns = find(spin(1:end-1) .* spin(2:end) < 0);
printf("%d rows to t = %g s, spin from %.4f to %.4f rad/s\n", size(data, 1), t(end), ...
       spin(1), spin(end));
printf("the spin turns near t = %.2f s\n", t(turns));
