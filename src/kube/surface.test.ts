import { describe, expect, it } from 'vitest';
import { gvrKey } from './gvr.js';
import { parseRequestInfo } from './request-info.js';
import { type Surface, serves } from './surface.js';

const surface: Surface = {
  resources: new Map([
    [
      gvrKey('', 'v1', 'pods'),
      {
        verbs: new Set(['get', 'list', 'watch']),
        subresources: new Map([
          ['status', new Set(['get', 'patch'])],
          ['exec', new Set(['create', 'get'])],
          ['odd', new Set<string>()],
        ]),
      },
    ],
  ]),
  core: [],
  groups: [],
  kubernetesVersion: '',
};

const asked = (method: string, path: string) => serves(surface, parseRequestInfo(method, path)!);

describe('a surface serves', () => {
  it.each([
    ['a resource by its verbs', 'GET', '/api/v1/pods', true],
    ['a watch', 'GET', '/api/v1/pods?watch=1', true],
    ['no verb that the resource lacks', 'DELETE', '/api/v1/namespaces/x/pods/p', false],
    ['no collection deletion that it lacks', 'DELETE', '/api/v1/namespaces/x/pods', false],
    ['a subresource', 'PATCH', '/api/v1/namespaces/x/pods/p/status', true],
    ['no subresource that it lacks', 'PATCH', '/api/v1/namespaces/x/pods/p/resize', false],
    ['no verb that the subresource lacks', 'PUT', '/api/v1/namespaces/x/pods/p/status', false],
    ['nothing of a subresource that lists no verbs', 'PUT', '/api/v1/namespaces/x/pods/p/odd', false],
    ['methods that discovery has no verb for', 'OPTIONS', '/api/v1/pods', true],
    ['no other version', 'GET', '/api/v2/pods', false],
    ['no other group', 'GET', '/apis/apps/v1/pods', false],
    ['the legacy proxy of a resource it has', 'GET', '/api/v1/proxy/namespaces/x/pods/p', true],
  ])('%s', (_, method, path, expected) => {
    expect(asked(method, path)).toBe(expected);
  });
});
