import type { Verdict } from '../../src/proxy/page/page-state.js';
import type { Phase } from '../live/connection.js';
import { Remedy } from '../parts/remedy.js';
import { type Tone, ToneMark } from '../parts/tone-mark.js';

const HEADLINES: Readonly<Record<Verdict['may'], string>> = {
  yes: 'The next server may be replaced',
  no: 'Do not replace a server now',
  unknown: 'Not known whether a server may be replaced',
};
const TONES: Readonly<Record<Verdict['may'], Tone>> = { yes: 'good', no: 'bad', unknown: 'unknown' };

interface VerdictViewProps {
  readonly verdict: Verdict;
  readonly phase: Phase;
  readonly isOld: boolean;
}

/** The first look. A verdict that may be old is shown as no verdict. */
export function VerdictView({ verdict, phase, isOld }: VerdictViewProps) {
  const oldHeadline = phase === 'lost' ? 'Not known: the connection is lost' : 'Not known: the server is silent';
  const tone = isOld ? 'unknown' : TONES[verdict.may];
  return (
    <section id="verdict" class={`verdict ${tone}`} aria-labelledby="verdict-title" tabIndex={-1}>
      <ToneMark tone={tone} />
      <div class="verdict-text">
        <div role="status" aria-live="polite">
          <h2 id="verdict-title">{isOld ? oldHeadline : HEADLINES[verdict.may]}</h2>
          <p>
            {isOld && 'Before that: '}
            {verdict.sentence}
          </p>
        </div>
        {verdict.reasons.length > 0 && (
          <ul class="reasons" aria-label="Reasons">
            {verdict.reasons.map(({ id, text, remedy, isCommand }, index) => (
              <li key={`${id} ${index}`}>
                <p>
                  {text} <code class="id">{id}</code>
                </p>
                {remedy !== null && <Remedy text={remedy} isCommand={isCommand} />}
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}
