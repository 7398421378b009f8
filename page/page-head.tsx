import type { PageState } from '../src/proxy/page/page-state.js';
import { useIsOld, useMonotonicMs } from './live/clock.js';
import type { Live } from './live/connection.js';
import { THEMES, type Theme, useTheme } from './theme.js';
import { spanText } from './words.js';

const THEME_WORDS: Readonly<Record<Theme, string>> = { auto: 'Auto', light: 'Light', dark: 'Dark' };
const PRODUCTS: Readonly<Record<PageState['product'], string>> = {
  sidecar: 'sidecar of',
  apiserver: 'API server',
};

interface PageHeadProps {
  readonly live: Live;
  readonly tryNow: () => void;
}

export function PageHead({ live, tryNow }: PageHeadProps) {
  const { state } = live;
  return (
    <>
      <header class="page-head">
        <h1>Straddle</h1>
        {state !== undefined && (
          <p class="whose">
            {PRODUCTS[state.product]} <b>{state.server}</b>{' '}
            <span class="quiet">· Straddle {state.straddleVersion}</span>
          </p>
        )}
        <ConnectionState live={live} />
        <ThemeSwitch />
      </header>
      {state !== undefined && <Navigation state={state} />}
      {live.phase === 'lost' && <Lost live={live} tryNow={tryNow} />}
    </>
  );
}

function ConnectionState({ live }: { readonly live: Live }) {
  const { heardAtMs } = live;
  const now = useMonotonicMs();
  const phase = useIsOld(live) && live.state !== undefined ? 'lost' : live.phase;
  const words = {
    connecting: 'connecting',
    live: 'live',
    polling: 'no stream, read each 5 s',
    lost: heardAtMs === 0 ? 'no connection' : `data from ${spanText(now - heardAtMs)} ago`,
  };
  return (
    <p class={`connection ${phase}`}>
      <span class="dot" aria-hidden="true" />
      {words[phase]}
    </p>
  );
}

function Lost({ live: { heardAtMs, problem }, tryNow }: PageHeadProps) {
  const now = useMonotonicMs();
  return (
    <section class="lost" aria-label="Connection lost">
      <p>
        <b>Connection lost</b>
        {heardAtMs > 0 && `, data from ${spanText(now - heardAtMs)} ago`}. It is tried again.{' '}
        {problem !== undefined && <span class="quiet">({problem})</span>}
      </p>
      <button type="button" onClick={tryNow}>
        Try now
      </button>
    </section>
  );
}

function ThemeSwitch() {
  const [theme, choose] = useTheme();
  return (
    <fieldset class="choices theme">
      <legend class="hidden">Colours</legend>
      {THEMES.map((each) => (
        <label key={each} class={each === theme ? 'chosen' : ''}>
          <input type="radio" name="theme" checked={each === theme} onChange={() => choose(each)} />
          {THEME_WORDS[each]}
        </label>
      ))}
    </fieldset>
  );
}

function Navigation({ state }: { readonly state: PageState }) {
  const bad = state.checks.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn').length;
  const down = state.servers.filter(({ state: each }) => each !== 'ready').length;
  const links: readonly (readonly [string, string, number])[] = [
    ['verdict', 'Verdict', 0],
    ['servers', 'Servers', down],
    ['skew', 'Skew', 0],
    ['flow', 'Live flow', 0],
    ['timeline', 'Timeline', 0],
    ['clients', 'Clients', 0],
    ['checks', 'Checks', bad],
  ];
  return (
    <nav class="sections" aria-label="Sections">
      <ul>
        {links.map(([id, title, count]) => (
          <li key={id}>
            <a href={`#${id}`}>
              {title}
              {count > 0 && <span class="badge warn">{count}</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
