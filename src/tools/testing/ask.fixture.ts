import { request } from 'node:https';
import type { ControlPlane } from './test-control-plane.js';

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly reason?: string; readonly message?: string };
}

/** Only 1.36 knows it, where it is turned on. */
export const SKEW = 'scheduling.k8s.io/v1alpha2=true';
export const POD_GROUPS = '/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups';
export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

/** One request on a connection of its own, at the front door or at a server; a status is an answer, never an error. */
export function ask(plane: ControlPlane, where: string, path: string, body?: unknown): Promise<Answer> {
  const url = where === 'front' ? plane.front.url : plane.servers.find(({ name }) => name === where)!.url;
  const method = body === undefined ? 'GET' : 'POST';
  const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, { ...plane.credentials, agent: false, method, headers }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('error', reject);
      reply.on('end', () =>
        resolve({ status: reply.statusCode!, body: JSON.parse(Buffer.concat(chunks).toString()) as Answer['body'] }),
      );
    });
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Opens a watch on a server; resolves when it is open. `ended` says whether the server ended it in order. */
export function openWatch(
  plane: ControlPlane,
  where: string,
  path: string,
): Promise<{ readonly status: number; readonly ended: Promise<boolean>; leave(): void }> {
  const { url } = plane.servers.find(({ name }) => name === where)!;
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}?watch=true`, { ...plane.credentials, agent: false }, (reply) => {
      reply.resume();
      const ended = new Promise<boolean>((end) => {
        reply.on('error', () => {});
        reply.on('close', () => end(reply.complete));
      });
      resolve({ status: reply.statusCode!, ended, leave: () => asked.destroy() });
    });
    asked.on('error', reject);
    asked.end();
  });
}
