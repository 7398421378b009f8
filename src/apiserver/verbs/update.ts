import type { Reply } from '../../http/exchange.js';
import { cloneJson } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import { trackUpdateSteps } from '../apply/track-update.js';
import { otherName } from '../registry/storage-failure.js';
import { objectAnswer } from './answer.js';
import type { ApiCall } from './api-call.js';
import { changeObject } from './change-object.js';
import { createObject, withNamespace } from './create.js';
import { readObject } from './decode.js';
import { checkObjectSize } from './object-size.js';
import { optionsObject } from './options.js';
import { writerOf } from './writer.js';

/** PUT of an object, or of a part of it through a subresource. */
export async function update(call: ApiCall): Promise<Reply> {
  const { type, info, slices } = call;
  const { sent, options } = await readObject(call, 'UpdateOptions');
  if (nameOf(sent) !== info.name) throw otherName(nameOf(sent), info.name);
  const writer = writerOf(call, options, info.subresource);
  const defaulted = type.strategy.setDefaults(cloneJson(withNamespace(call, sent)));
  checkObjectSize(defaulted);
  if (slices.isOver) await slices.next();
  const { view, created } = await changeObject(call, {
    subresource: info.subresource,
    wish: (live) => slices.run(trackUpdateSteps(live, cloneJson(defaulted), writer)),
    ...(type.strategy.createsOnUpdate && info.subresource === ''
      ? {
          create: async () =>
            createObject(call, await slices.run(trackUpdateSteps(undefined, cloneJson(defaulted), writer)), options),
        }
      : {}),
    options: optionsObject('UpdateOptions', options),
    dryRun: options.dryRun,
    isReplacement: true,
  });
  return objectAnswer(call, created ? 201 : 200, view);
}
