import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../base/work-slices.js';
import type { ServedResource } from './surface.js';
import { differingRows, newNames, surfaceMatrix, withoutParts } from './surface-matrix.js';

type Served = Readonly<Record<string, readonly string[]>>;

/** Subresources by `group/version/resource`; a resource without verbs of its own ends with `!`. */
function surface(served: Served) {
  const resources = new Map<string, ServedResource>();
  for (const [key, subresources] of Object.entries(served)) {
    const verbs = key.endsWith('!') ? [] : ['get'];
    resources.set(key.replace('!', ''), {
      verbs: new Set(verbs),
      subresources: new Map(subresources.map((name) => [name, new Set(['get'])])),
    });
  }
  return { resources };
}

const OLD = surface({ '/v1/pods': ['log'], 'apps/v1/deployments': [], '/v1/nodes!': ['proxy'] });
const NEW = surface({ '/v1/pods': ['log', 'resize'], 'x/v1/widgets': ['status'], '/v1/nodes!': ['proxy'] });

describe('surface matrix', () => {
  it('has rows in the same order whether verbs are compared or not', () => {
    const servers = [
      { name: 'old', surface: OLD },
      { name: 'new', surface: NEW },
    ];
    const differing = surfaceMatrix(servers).filter(({ servedBy }) => servedBy.size < 2);
    const { rows, alike } = runAtOnce(differingRows([OLD, NEW]));
    expect(rows.map(({ name }) => name)).toEqual(differing.map(({ name }) => name));
    expect(alike).toBe(surfaceMatrix(servers).length - rows.length);
  });

  it('has what not every server serves, and the number of the rest', () => {
    const names = (...surfaces: (typeof OLD)[]) => {
      const { rows, alike } = runAtOnce(differingRows(surfaces));
      return { names: rows.map(({ name }) => name), alike };
    };
    expect(names(OLD, NEW)).toEqual({
      names: ['pods.v1/resize', 'deployments.v1.apps', 'widgets.v1.x', 'widgets.v1.x/status'],
      alike: 3,
    });
    expect(names(OLD)).toEqual({ names: [], alike: 4 });
    expect(names()).toEqual({ names: [], alike: 0 });
  });

  it('can be interrupted after each server', () => {
    const work = differingRows([OLD, NEW, OLD]);
    let pauses = 0;
    while (!work.next().done) pauses += 1;
    expect(pauses).toBeGreaterThanOrEqual(3);
  });

  it('names what one surface has and another one lacks', () => {
    expect(newNames(NEW, OLD)).toEqual(['pods.v1/resize', 'widgets.v1.x', 'widgets.v1.x/status']);
    expect(newNames(OLD, NEW)).toEqual(['deployments.v1.apps']);
    expect(newNames(OLD, OLD)).toEqual([]);
    expect(withoutParts(newNames(NEW, OLD))).toEqual(['pods.v1/resize', 'widgets.v1.x']);
  });
});
