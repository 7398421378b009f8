import type { Reach } from '../../src/proxy/page/page-state.js';
import { ScrollBox } from '../parts/scroll-box.js';
import { plural } from '../words.js';

interface ReachMatrixProps {
  readonly servers: readonly string[];
  readonly reach: readonly Reach[];
}

const GLYPHS = { yes: '✓', no: '✗', unknown: '?' };
const WORDS = { yes: 'reaches', no: 'does not reach', unknown: 'does not report on' };

/** More columns than this have their names written upwards. */
const LEVEL_NAMES_MAX = 4;

export function ReachMatrix({ servers, reach }: ReachMatrixProps) {
  const byPair = new Map(reach.map(({ from, to, reaches }) => [`${from}\n${to}`, reaches]));
  const broken = reach.filter(({ reaches }) => reaches === false).length;
  return (
    <ScrollBox label="Who reaches whom" class="reach-box">
      <table class={servers.length > LEVEL_NAMES_MAX ? 'reach upright' : 'reach'}>
        <caption>
          Who reaches whom
          <span class={broken > 0 ? 'bad' : 'quiet'}>
            {' '}
            · {broken > 0 ? `${plural(broken, 'way')} broken` : 'no broken way'}
          </span>
        </caption>
        <thead>
          <tr>
            <th scope="col" class="corner">
              from \ to
            </th>
            {servers.map((name) => (
              <th key={name} scope="col" title={name}>
                <span>{name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {servers.map((from) => (
            <tr key={from}>
              <th scope="row">{from}</th>
              {servers.map((to) => (
                <ReachCell key={to} from={from} to={to} reaches={byPair.get(`${from}\n${to}`) ?? null} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function ReachCell({ from, to, reaches }: Reach) {
  if (from === to) {
    return (
      <td class="self">
        <span class="hidden">itself</span>
      </td>
    );
  }
  const answer = reaches === null ? 'unknown' : reaches ? 'yes' : 'no';
  const words = `${from} ${WORDS[answer]} ${to}`;
  return (
    <td class={`reach-${answer}`} title={words}>
      <span role="img" aria-label={words}>
        {GLYPHS[answer]}
      </span>
    </td>
  );
}
