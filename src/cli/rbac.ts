import { type Command, InvalidArgumentError } from 'commander';
import type { Surroundings } from './surroundings.js';

export interface RbacSubject {
  readonly user: string;
}

const EXAMPLES = `
Straddle reads and keeps leases, and reads the EndpointSlices of default/kubernetes, to find its peers. Unless it has
a --kubeconfig of its own it does so as the user system:straddle, through the front-proxy certificate, and that user
needs these rights once per cluster. Rights on the requests it carries are always those of the caller.

Examples:
  $ straddle rbac | kubectl apply -f -
  $ straddle rbac --user=straddle-cp1 > straddle-rbac.yaml
`;

export function addRbacCommand(program: Command, surroundings: Surroundings): void {
  program
    .command('rbac')
    .description('Print the RBAC manifest with the few rights that Straddle itself needs')
    .option('--user <name>', 'the user that Straddle acts as', plainName, 'system:straddle')
    .addHelpText('after', EXAMPLES)
    .action((options: RbacSubject) => surroundings.stdout(rbacManifest(options)));
}

/** What is put into YAML unquoted must not be able to mean anything else there. */
function plainName(value: string): string {
  if (!/^[A-Za-z0-9]([A-Za-z0-9._:@-]*[A-Za-z0-9])?$/.test(value)) {
    throw new InvalidArgumentError('Use letters, digits and . _ : @ - only.');
  }
  return value;
}

export function rbacManifest({ user }: RbacSubject): string {
  const documents = [
    role('Role', 'kube-system', [
      '  # Finding peers, and the own lease that lets peers find this one.',
      '  - apiGroups: ["coordination.k8s.io"]',
      '    resources: ["leases"]',
      '    verbs: ["get", "list", "watch", "create", "update", "patch", "delete"]',
    ]),
    binding('RoleBinding', 'kube-system', user),
    role('Role', 'default', [
      '  # Finding peers: the EndpointSlices of the Service kubernetes.',
      '  - apiGroups: ["discovery.k8s.io"]',
      '    resources: ["endpointslices"]',
      '    verbs: ["get", "list", "watch"]',
    ]),
    binding('RoleBinding', 'default', user),
    role('ClusterRole', undefined, [
      '  # What each server serves and how it is. system:discovery gives this to every authenticated user already, but',
      '  # some clusters take that away.',
      '  - nonResourceURLs: ["/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", "/version", "/livez", "/readyz"]',
      '    verbs: ["get"]',
    ]),
    binding('ClusterRoleBinding', undefined, user),
  ];
  return `${documents.join('---\n')}`;
}

function role(kind: 'Role' | 'ClusterRole', namespace: string | undefined, rules: readonly string[]): string {
  return lines([...head(kind, namespace), 'rules:', ...rules]);
}

function binding(kind: 'RoleBinding' | 'ClusterRoleBinding', namespace: string | undefined, user: string): string {
  return lines([
    ...head(kind, namespace),
    'roleRef:',
    '  apiGroup: rbac.authorization.k8s.io',
    `  kind: ${kind === 'RoleBinding' ? 'Role' : 'ClusterRole'}`,
    '  name: straddle',
    'subjects:',
    '  - apiGroup: rbac.authorization.k8s.io',
    '    kind: User',
    `    name: "${user}"`,
  ]);
}

function head(kind: string, namespace: string | undefined): readonly string[] {
  return [
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${kind}`,
    'metadata:',
    '  name: straddle',
    ...(namespace === undefined ? [] : [`  namespace: ${namespace}`]),
  ];
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}
