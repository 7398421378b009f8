import { at, hasCondition, objectsAt, printer, textAt, textsAt } from './cells.js';

/** CustomResourceDefinitions since 1.37; before, kube-apiserver has no columns for them. */
export const DEFINITION_PRINTER = printer(
  'Name:name Scope Versions Created_At:date Group* Kind* ShortNames* Established:boolean*',
  (object) => {
    const served = objectsAt(object, 'spec', 'versions').filter((each) => each['served'] === true);
    const versions = served.map((each) => `${textAt(each, 'name')}${each['storage'] === true ? '(storage)' : ''}`);
    return [
      textAt(object, 'spec', 'scope'),
      versions.sort().join(','),
      at(object, 'metadata', 'creationTimestamp') ?? null,
      textAt(object, 'spec', 'group'),
      textAt(object, 'spec', 'names', 'kind'),
      textsAt(object, 'spec', 'names', 'shortNames').join(','),
      hasCondition(object, 'Established'),
    ];
  },
);
