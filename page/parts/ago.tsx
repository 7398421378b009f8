import { useServerMs } from '../live/clock.js';
import { agoText, momentText, untilText } from '../words.js';

/** How long ago, by the clock of the server. */
export function Ago({ atMs }: { readonly atMs: number | null }) {
  const now = useServerMs();
  if (atMs === null) return <span class="quiet">never</span>;
  const moment = momentText(atMs);
  return (
    <time dateTime={moment} title={moment}>
      {agoText(now - atMs)}
    </time>
  );
}

/** Warned of, as in `straddle check`. */
const CERTIFICATE_DAYS_MIN = 30;
const DAY_MS = 86_400_000;

export function Expiry({ atMs }: { readonly atMs: number | null }) {
  const now = useServerMs();
  if (atMs === null) return <span class="quiet">not known</span>;
  const left = atMs - now;
  const tone = left < 0 ? 'bad' : left < CERTIFICATE_DAYS_MIN * DAY_MS ? 'warn' : '';
  const moment = momentText(atMs);
  return (
    <time dateTime={moment} title={moment} class={tone}>
      {left < 0 ? 'expired ' : ''}
      {untilText(left)}
    </time>
  );
}
