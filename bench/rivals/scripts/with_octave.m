% Octave on problem P3, the paper's way: ten coordinates, equation (45) of Udwadia and Mogharabin
% with pinv, ode45. hand_rhs_paper.inc writes out the same equations. Run by noslip bench:
%
%     octave --norc --quiet --no-gui --eval "rtol = 1e-7; atol = 1e-7; source('with_octave.m')"
%
% Prints the CPU seconds of the integration, steps, and the final state.
1;
function dy = paper(t, y)
    r = 0.06; m = 4/3*pi*r^3*4500; J = 2/5*m*r^2; g = 9.81; kappa2 = 0.02;
    u = y(4:7); x = y(8); dw = y(11:13); du = y(14:17); da = y(18:20);
    f1 = 0.65 - 3*x - 6.7*x^2 + 20.5*x^3; f2 = -3 - 13.4*x + 61.5*x^2; f3 = -13.4 + 123*x;
    k = [-f1; 0; 1]; nk = norm(k); n = k/nk; K = zeros(3); K(1, 1) = -f2;
    dk = K*da; Delta = (eye(3) - n*n')/nk; dn = Delta*dk;
    delta = (3*(dk'*k)^2/nk^2 - dk'*dk)/nk^3; c = 2*(dk'*k)/nk^3;
    Kda = [-f3*da(1)^2; 0; 0];
    E = [-u(2) u(1) u(4) -u(3); -u(3) -u(4) u(1) u(2); -u(4) u(3) -u(2) u(1)];
    dE = [-du(2) du(1) du(4) -du(3); -du(3) -du(4) du(1) du(2); -du(4) du(3) -du(2) du(1)];
    G = [-u(2) u(1) -u(4) u(3); -u(3) u(4) u(1) -u(2); -u(4) -u(3) u(2) u(1)]; % S E
    o = 2*G*du;
    nx = [0 -n(3) n(2); n(3) 0 -n(1); -n(2) n(1) 0];
    A = [zeros(1, 7), k'
         -eye(3), zeros(3, 4), eye(3) + r*Delta*K
         eye(3), 2*r*nx*G, zeros(3)
         zeros(1, 3), u', zeros(1, 3)
         m*dw', 4*J*du'*(E'*E), zeros(1, 3)];
    b = [-da'*dk; -r*(Delta*Kda + delta*k - c*dk); -r*cross(dn, o); -du'*du; -m*g*dw(3)];
    M = blkdiag(m*eye(3), 4*J*(E'*E), zeros(3));
    Q = [0; 0; -m*g; -8*J*(dE'*(E*du)); 0; 0; 0];
    Mh = M + kappa2*(A'*A);
    a = Mh\(Q + A'*(pinv(A*(Mh\A'))*(b - A*(Mh\Q))));
    dy = [y(11:20); a];
end
f1 = 0.65 + 3*0.65 - 6.7*0.65^2 - 20.5*0.65^3; n = [-f1; 0; 1]/sqrt(1 + f1^2);
P = [-0.65; 0.1; -0.65^2 - 3/2*0.65^2 + 6.7/3*0.65^3 + 20.5/4*0.65^4];
v = [0.2; -0.3; 0.2*f1]; o = cross(n, v)/0.06; u = [1; 0; 0; 0];
f2 = -3 + 13.4*0.65 + 61.5*0.65^2; w = sqrt(1 + f1^2);
px = v(1)/(1 - 0.06*f2/w^3);
y0 = [P + 0.06*n; u; P; v; 0; o/2; px; v(2); f1*px];
options = odeset('RelTol', rtol, 'AbsTol', atol);
start = cputime();
[t, y] = ode45(@paper, [0 10], y0, options);
seconds = cputime() - start;
printf("%.6e %d", seconds, numel(t) - 1);
printf(" %.17g", y(end, :));
printf("\n");
