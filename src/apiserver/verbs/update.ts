import type { Reply } from '../../http/exchange.js';
import { cloneJson } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import { trackUpdateSteps } from '../apply/track-update.js';
import { objectAnswer } from './answer.js';
import type { ApiCall } from './api-call.js';
import { changeObject } from './change-object.js';
import { createObject, withNamespace } from './create.js';
import { bodyEncoding, decodeSteps } from './decode.js';
import { checkObjectSize } from './object-size.js';
import { optionsObject, writeOptions } from './options.js';
import { outputForm } from './output-form.js';
import { readRequestBody } from './read-body.js';
import { writerOf } from './writer.js';

/** PUT of an object, or of a part of it through a subresource. */
export async function update(call: ApiCall): Promise<Reply> {
  const { type, info } = call;
  outputForm(call.exchange, call.query, call.type);
  const options = writeOptions('UpdateOptions', call.query);
  const encoding = bodyEncoding(call.exchange, call.type);
  const body = await readRequestBody(call.exchange);
  const { slices } = call;
  slices.begin();
  const decoded = await slices.run(decodeSteps(body, encoding, type, { ...options, warnings: call.warnings }));
  if (nameOf(decoded) !== info.name) {
    throw new StatusError(
      'BadRequest',
      `the name of the object (${nameOf(decoded)}) does not match the name on the URL (${info.name})`,
    );
  }
  const sent = withNamespace(call, decoded);
  const writer = writerOf(call, options, info.subresource);
  const defaulted = type.strategy.setDefaults(cloneJson(sent));
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
