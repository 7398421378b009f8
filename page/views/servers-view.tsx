import type { Reach, ServerState } from '../../src/proxy/page/page-state.js';
import { Ago, Expiry } from '../parts/ago.js';
import { ScrollBox } from '../parts/scroll-box.js';
import { Section } from '../parts/section.js';
import { type Tone, ToneMark } from '../parts/tone-mark.js';
import { countText, plural } from '../words.js';
import { ReachMatrix } from './reach-matrix.js';

const TONES: Readonly<Record<ServerState['state'], Tone>> = {
  ready: 'good',
  down: 'bad',
  unread: 'warn',
  gone: 'unknown',
};

interface ServersViewProps {
  readonly servers: readonly ServerState[];
  readonly reach: readonly Reach[];
}

export function ServersView({ servers, reach }: ServersViewProps) {
  const ready = servers.filter(({ state }) => state === 'ready').length;
  return (
    <Section id="servers" title="Servers" lead={`${ready} of ${plural(servers.length, 'server')} ready`}>
      <div class="side-by-side">
        <ScrollBox label="Table of servers" class="cards">
          <table class="servers">
            <caption class="hidden">Servers of the control plane, as this Straddle knows them</caption>
            <thead>
              <tr>
                <th scope="col">Server</th>
                <th scope="col">Version</th>
                <th scope="col">State</th>
                <th scope="col">Lease</th>
                <th scope="col">APIs read</th>
                <th scope="col" class="number">
                  In flight
                </th>
                <th scope="col">Certificate</th>
                <th scope="col">Addresses</th>
              </tr>
            </thead>
            <tbody>
              {servers.map((server) => (
                <ServerRow key={server.name} server={server} />
              ))}
            </tbody>
          </table>
        </ScrollBox>
        {reach.length > 0 && <ReachMatrix servers={servers.map(({ name }) => name)} reach={reach} />}
      </div>
    </Section>
  );
}

function ServerRow({ server }: { readonly server: ServerState }) {
  const { name, isThis, version, emulatedVersion, state, detail, passthrough } = server;
  return (
    <tr>
      <th scope="row">
        <span class="name">{name}</span>
        {isThis && (
          <>
            {' '}
            <span class="badge">this one</span>
          </>
        )}
        {passthrough === true && (
          <>
            {' '}
            <span class="badge warn">passthrough</span>
          </>
        )}
      </th>
      <td data-label="Version">
        {version ?? <span class="quiet">not read</span>}
        {emulatedVersion !== null && <span class="under">emulates {emulatedVersion}</span>}
      </td>
      <td data-label="State" class="state">
        <ToneMark tone={TONES[state]} /> {state}
        {detail !== '' && <span class="under">{detail}</span>}
      </td>
      <td data-label="Lease renewed">
        <Ago atMs={server.leaseRenewedAtMs} />
      </td>
      <td data-label="APIs read">
        <Ago atMs={server.surfaceAtMs} />
      </td>
      <td data-label="In flight" class="number">
        {countText(server.inFlight)}
      </td>
      <td data-label="Certificate">
        <Expiry atMs={server.certificateExpiresAtMs} />
      </td>
      <td data-label="Addresses">
        <Addresses endpoints={server.endpoints} server={name} />
      </td>
    </tr>
  );
}

function Addresses({ endpoints, server }: { readonly endpoints: ServerState['endpoints']; readonly server: string }) {
  if (endpoints.length === 0) return <span class="quiet">none</span>;
  const usable = endpoints.filter((each) => each.usable).length;
  return (
    <details class="addresses">
      <summary aria-label={`Addresses of ${server}: ${usable} of ${endpoints.length} usable`}>
        <span class={usable === 0 ? 'bad' : usable < endpoints.length ? 'warn' : ''}>
          {usable} of {endpoints.length} usable
        </span>
      </summary>
      <ul>
        {endpoints.map((each) => (
          <li key={`${each.kind} ${each.address}`}>
            <ToneMark tone={each.usable ? 'good' : 'bad'} label={each.usable ? 'usable' : 'not usable'} />{' '}
            <code>{each.address}</code> <span class="quiet">{each.kind}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
