import { runAtOnce } from '../../base/work-slices.js';
import { isObject, type JsonObject, member } from '../../kube/json.js';
import type { Schema } from '../schema/schema.js';
import { compareFields } from './compare-fields.js';
import type { FieldSet } from './field-set.js';
import { isReset, type Manager, type Managers, managerKey, readManagers, withManagers } from './managed-fields.js';
import { capUpdaters, ownable, visible, withoutFields } from './manager-changes.js';
import { ItemError } from './path-element.js';
import { constantMembers, withConstantMembers } from './structure.js';

/** Who writes, and how the kind is built. */
export interface Writer {
  readonly manager: string;
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly schema: Schema;
  /** Built-in kinds write some members always (see `withConstantMembers`); custom resources do not. */
  readonly isBuiltIn: boolean;
  /** Fields that this request cannot change, as `status` on the object itself: they and what is below are not owned. */
  readonly ignored?: FieldSet;
  /** RFC 3339, whole seconds, UTC. */
  readonly now: string;
}

/**
 * The object of a create, update or patch with its managed fields: what the writer added or changed is its own, what it
 * removed is no one's. `live` is undefined for a create.
 */
export function trackUpdate(live: JsonObject | undefined, object: JsonObject, writer: Writer): JsonObject {
  return runAtOnce(trackUpdateSteps(live, object, writer));
}

/** The same, yielding between passes over the whole object. */
export function* trackUpdateSteps(
  live: JsonObject | undefined,
  object: JsonObject,
  writer: Writer,
): Generator<void, JsonObject> {
  const managers = managersFor(live, object, writer);
  // Tracking starts at the creation; an object without managers has been taken out of it on purpose.
  if (managers.size === 0 && live !== undefined) return withManagers(object, new Map());
  try {
    const after = yield* updated(live, object, managers, writer);
    yield;
    return withManagers(object, capUpdaters(after));
  } catch (error) {
    // An item without its keys: validation tells the client so; who owns what cannot be told here.
    if (error instanceof ItemError) return withManagers(object, new Map());
    throw error;
  }
}

/** The managers after an update; exported for what exists before the first apply. */
export function* updated(
  live: JsonObject | undefined,
  object: JsonObject,
  managers: Managers,
  writer: Writer,
): Generator<void, Map<string, Manager>> {
  const { schema, isBuiltIn } = writer;
  const whole = (value: JsonObject): JsonObject =>
    withoutManagers(isBuiltIn ? withConstantMembers(value, schema) : value);
  const before = live ? whole(live) : isBuiltIn ? constantMembers(schema) : {};
  yield;
  const after = whole(object);
  yield;
  const { added, modified, removed } = compareFields(before, after, schema);
  yield;
  const taken = added.union(modified);
  yield;
  // A new object has nobody yet to take anything from.
  const remaining =
    managers.size === 0
      ? new Map<string, Manager>()
      : withoutFields(managers, visible(taken.union(removed), writer.ignored));
  yield;
  const own = ownable(visible(taken, writer.ignored));
  if (own.isEmpty) return remaining;
  const { manager: name, apiVersion, subresource, now: time } = writer;
  const operation = 'Update';
  const key = managerKey({ name, operation, apiVersion, subresource });
  const previous = remaining.get(key)?.fields;
  const fields = previous ? own.union(previous) : own;
  return remaining.set(key, { name, operation, apiVersion, subresource, time, fields });
}

export function placeOf({ apiVersion, subresource }: Writer): { apiVersion: string; subresource: string } {
  return { apiVersion, subresource };
}

/** Clients may send changed managers along; those who know nothing of them send none, which must not delete any. */
function managersFor(live: JsonObject | undefined, object: JsonObject, { subresource }: Writer): Managers {
  if (subresource === '') {
    if (isReset(object)) return new Map();
    const sent = readManagers(object);
    if (sent !== undefined && sent.size > 0) return sent;
  }
  return readManagers(live) ?? new Map();
}

export function withoutManagers(object: JsonObject): JsonObject {
  const metadata = member(object, 'metadata');
  if (!isObject(metadata) || !Object.hasOwn(metadata, 'managedFields')) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}
