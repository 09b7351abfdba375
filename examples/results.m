% Results of noslip in Octave (and Matlab): a run written as CSV, read and looked at.
%     noslip run rattleback --until 10 --every 0.01 --out motion.csv
%     octave --no-gui results.m motion.csv
arguments = argv();
file = arguments{end};
head = strsplit(strtrim(fgetl(fopen(file))), ",");
data = dlmread(file, ",", 1, 0);
t = data(:, 1);
spin = data(:, find(strcmp(head, "omega.z")));
turns = find(spin(1:end-1) .* spin(2:end) < 0);
printf("%d rows to t = %g s, spin from %.4f to %.4f rad/s\n", rows(data), t(end), ...
       spin(1), spin(end));
printf("the spin turns near t = %.2f s\n", t(turns));
