import type { CheckState } from '../../src/proxy/page/page-state.js';
import { Remedy } from '../parts/remedy.js';
import { Section } from '../parts/section.js';
import { type Tone, ToneMark } from '../parts/tone-mark.js';
import { plural } from '../words.js';

const TONES: Readonly<Record<CheckState['verdict'], Tone>> = {
  fail: 'bad',
  warn: 'warn',
  unknown: 'unknown',
  ok: 'good',
};
/** The worst first. */
const ORDER: readonly CheckState['verdict'][] = ['fail', 'warn', 'unknown', 'ok'];

export function ChecksView({ checks }: { readonly checks: readonly CheckState[] }) {
  const counts = ORDER.map((verdict) => [verdict, checks.filter((each) => each.verdict === verdict).length] as const);
  const problems = ORDER.slice(0, -1).flatMap((verdict) => checks.filter((each) => each.verdict === verdict));
  const good = checks.filter(({ verdict }) => verdict === 'ok');
  const lead = counts.flatMap(([verdict, count]) => (count === 0 ? [] : `${count} ${verdict}`)).join(', ');
  return (
    <Section id="checks" title="Checks" lead={lead === '' ? undefined : lead}>
      {checks.length === 0 && <p class="empty">No check has run yet.</p>}
      {problems.length > 0 && <CheckList checks={problems} />}
      {good.length > 0 && (
        <details class="good-checks" open={problems.length === 0 && good.length <= 5}>
          <summary>{plural(good.length, 'check is', 'checks are')} ok</summary>
          <CheckList checks={good} />
        </details>
      )}
    </Section>
  );
}

function CheckList({ checks }: { readonly checks: readonly CheckState[] }) {
  return (
    <ul class="checks">
      {checks.map(({ id, server, verdict, text, remedy, isCommand }, index) => (
        <li key={`${id} ${server} ${index}`}>
          <ToneMark tone={TONES[verdict]} label={verdict} />
          <div>
            <p>
              {text} <code class="id">{id}</code>
              {server !== null && <span class="badge">{server}</span>}
            </p>
            {remedy !== null && <Remedy text={remedy} isCommand={isCommand} />}
          </div>
        </li>
      ))}
    </ul>
  );
}
