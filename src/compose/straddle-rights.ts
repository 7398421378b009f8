/** Returns the rights that Straddle needs for requests on its own behalf, as YAML. */
export function rbacManifest(user: string): string {
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
  return documents.join('---\n');
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
