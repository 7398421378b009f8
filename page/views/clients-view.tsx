import type { Clients } from '../../src/proxy/page/page-state.js';
import { Ago } from '../parts/ago.js';
import { ScrollBox } from '../parts/scroll-box.js';
import { Section } from '../parts/section.js';
import { countText, plural } from '../words.js';

export function ClientsView({ clients }: { readonly clients: Clients }) {
  const failed = clients.rows.reduce((sum, { wouldHaveFailed }) => sum + wouldHaveFailed, 0);
  const rows = [...clients.rows].sort(
    (left, right) => right.wouldHaveFailed - left.wouldHaveFailed || right.requests - left.requests,
  );
  const lead =
    failed === 0
      ? 'no request would have failed without Straddle'
      : `${plural(failed, 'request')} would have failed without Straddle`;
  return (
    <Section id="clients" title="Clients" lead={lead}>
      {rows.length === 0 ? (
        <p class="empty">No client yet.</p>
      ) : (
        <ScrollBox label="Table of clients" class="clients-box cards">
          <table class="clients">
            <caption class="hidden">User agents and their versions</caption>
            <thead>
              <tr>
                <th scope="col">Client</th>
                <th scope="col">Version</th>
                <th scope="col" class="number">
                  Requests
                </th>
                <th scope="col" class="number">
                  Would have failed
                </th>
                <th scope="col">Last</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ name, version, requests, wouldHaveFailed, lastAtMs }) => (
                <tr key={`${name} ${version}`}>
                  <th scope="row">{name}</th>
                  <td data-label="Version">{version === '' ? <span class="quiet">–</span> : version}</td>
                  <td data-label="Requests" class="number">
                    {countText(requests)}
                  </td>
                  <td data-label="Would have failed" class={wouldHaveFailed > 0 ? 'number warn' : 'number quiet'}>
                    {countText(wouldHaveFailed)}
                  </td>
                  <td data-label="Last">
                    <Ago atMs={lastAtMs} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollBox>
      )}
      {clients.left > 0 && <p class="left">{plural(clients.left, 'request')} of clients that are not listed.</p>}
    </Section>
  );
}
