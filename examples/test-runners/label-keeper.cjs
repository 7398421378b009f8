'use strict';
// The program under test, small enough to need no Kubernetes client: it adds a label to a ConfigMap, and tries again after a
// conflict. Its mistake would be to overwrite what somebody else has written meanwhile, or to give up.
const { request } = require('node:https');

/** Sends one request; resolves with the status and the parsed body. */
function send({ url, credentials }, method, path, body) {
  const { ca, cert, key, token } = credentials;
  const headers = {
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { ca, cert, key, method, headers, agent: false }, (reply) => {
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (chunk) => {
        text += chunk;
      });
      reply.on('end', () => resolve({ status: reply.statusCode, body: JSON.parse(text) }));
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Resolves with the status of the last reply. */
async function keepLabel(api, path, label) {
  for (let attempt = 1; ; attempt++) {
    const found = await send(api, 'GET', path);
    if (found.status !== 200) return found.status;
    const { metadata } = found.body;
    const next = { ...found.body, metadata: { ...metadata, labels: { ...metadata.labels, [label]: 'yes' } } };
    const { status } = await send(api, 'PUT', path, next);
    if (status !== 409 || attempt === 5) return status;
  }
}

module.exports = { keepLabel, send };
