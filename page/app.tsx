import { useMemo } from 'preact/hooks';
import type { PageState } from '../src/proxy/page/page-state.js';
import { ClockOffset, useIsOld } from './live/clock.js';
import { type LiveStore, useLive } from './live/live-store.js';
import { PageHead } from './page-head.js';
import { ChecksView } from './views/checks-view.js';
import { ClientsView } from './views/clients-view.js';
import { FlowView } from './views/flow-view.js';
import { ServersView } from './views/servers-view.js';
import { SkewView } from './views/skew-view.js';
import { TimelineView } from './views/timeline-view.js';
import { VerdictView } from './views/verdict-view.js';

interface AppProps {
  readonly store: LiveStore;
  readonly tryNow: () => void;
}

export function App({ store, tryNow }: AppProps) {
  const live = useLive(store);
  const { state, phase } = live;
  const isOld = useIsOld(live);
  return (
    <ClockOffset.Provider value={live.clockOffsetMs}>
      <a class="skip" href="#verdict">
        Skip to the verdict
      </a>
      <PageHead live={live} tryNow={tryNow} />
      <main class={isOld && state !== undefined ? 'old' : ''}>
        {state === undefined ? (
          <p class="empty first">{phase === 'lost' ? 'Nothing could be read yet.' : 'Reading the state …'}</p>
        ) : (
          <>
            <VerdictView verdict={state.verdict} phase={phase} isOld={isOld} />
            <Sections state={state} />
          </>
        )}
      </main>
    </ClockOffset.Provider>
  );
}

/** Each section is drawn again only when its own part of the state changed. */
function Sections({ state }: { readonly state: PageState }) {
  const { servers, reach, skew, flow, timeline, clients, checks } = state;
  return (
    <>
      {useMemo(
        () => (
          <ServersView servers={servers} reach={reach} />
        ),
        [servers, reach],
      )}
      {useMemo(
        () => (
          <SkewView skew={skew} />
        ),
        [skew],
      )}
      {useMemo(
        () => (
          <FlowView flow={flow} />
        ),
        [flow],
      )}
      {useMemo(
        () => (
          <TimelineView timeline={timeline} />
        ),
        [timeline],
      )}
      {useMemo(
        () => (
          <ClientsView clients={clients} />
        ),
        [clients],
      )}
      {useMemo(
        () => (
          <ChecksView checks={checks} />
        ),
        [checks],
      )}
    </>
  );
}
