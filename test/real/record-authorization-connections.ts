import { type AuthorizationCase, CORE, meta, pod, post } from './record-authorization-case.js';

const PODS = `${CORE}/pods`;
const RUNNING = `${PODS}/running`;
const running = { setup: [post(PODS, pod('running', { nodeName: 'nowhere' }))] };
const proxied = [
  post('/api/v1/nodes', meta('proxied')),
  post(`${CORE}/services`, { ...meta('proxied'), spec: { ports: [{ port: 80 }] } }),
];

/** Logs, exec and the proxies. */
export const CONNECTION_CASES: readonly AuthorizationCase[] = [
  { name: 'pods/log: get', method: 'GET', path: `${RUNNING}/log`, ...running },
  { name: 'pods/log: get without the right', method: 'GET', path: `${RUNNING}/log`, deny: ['get pods/log'] },
  {
    name: 'pods/exec: POST',
    method: 'POST',
    path: `${RUNNING}/exec?command=sh&command=-c&stdin=true&stdout=1&tty=false&container=c`,
  },
  {
    name: 'pods/exec: POST without the right',
    method: 'POST',
    path: `${RUNNING}/exec?command=sh`,
    deny: ['create pods/exec'],
  },
  { name: 'pods/exec: GET', method: 'GET', path: `${RUNNING}/exec?command=sh` },
  {
    name: 'pods/exec: GET without create',
    method: 'GET',
    path: `${RUNNING}/exec?command=sh`,
    deny: ['create pods/exec'],
  },
  {
    name: 'pods/exec: GET of a missing pod without create',
    method: 'GET',
    path: `${PODS}/missing/exec?command=sh`,
    deny: ['create pods/exec'],
  },
  { name: 'pods/exec: POST as a dry run', method: 'POST', path: `${RUNNING}/exec?command=sh&dryRun=All` },
  { name: 'pods/attach: POST', method: 'POST', path: `${RUNNING}/attach?stdout=1&stderr=1` },
  {
    name: 'pods/attach: GET without create',
    method: 'GET',
    path: `${RUNNING}/attach?stdout=1`,
    deny: ['create pods/attach'],
  },
  { name: 'pods/portforward: POST', method: 'POST', path: `${RUNNING}/portforward?ports=80&ports=81` },
  {
    name: 'pods/portforward: GET without create',
    method: 'GET',
    path: `${RUNNING}/portforward`,
    deny: ['create pods/portforward'],
  },
  {
    name: 'pods/portforward: POST to a port that is no number',
    method: 'POST',
    path: `${RUNNING}/portforward?ports=x`,
  },
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({
    name: `pods/proxy: ${method}`,
    method,
    path: `${RUNNING}/proxy/a/b?c=d`,
  })),
  { name: 'pods/proxy: GET of the root', method: 'GET', path: `${RUNNING}/proxy` },
  { name: 'pods/proxy: GET with a port', method: 'GET', path: `${PODS}/http:running:8080/proxy/` },
  { name: 'pods/proxy: GET without the right', method: 'GET', path: `${RUNNING}/proxy/`, deny: ['get pods/proxy'] },
  { name: 'nodes/proxy: GET', method: 'GET', path: '/api/v1/nodes/proxied/proxy/metrics', setup: proxied },
  {
    name: 'nodes/proxy: POST without the right',
    method: 'POST',
    path: '/api/v1/nodes/proxied/proxy/run',
    deny: ['create nodes/proxy'],
  },
  { name: 'services/proxy: GET', method: 'GET', path: `${CORE}/services/proxied/proxy/x` },
  { name: 'services/proxy: GET with a port', method: 'GET', path: `${CORE}/services/proxied:80/proxy/` },
  {
    name: 'services/proxy: DELETE without the right',
    method: 'DELETE',
    path: `${CORE}/services/proxied/proxy/x`,
    deny: ['delete services/proxy'],
  },
];
