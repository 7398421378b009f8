import { type JsonObject, jsonEqual } from '../../../kube/json.js';
import { dnsLabelProblems } from '../built-in-formats.js';
import { child, childOrNew, fill, flag, has, number, podSpecOf, restore, specOf, text, textMap } from '../fields.js';
import { internalForm } from '../internal-form.js';
import { IMMUTABLE, type KindRules, type KindRulesTable, keepsMember, specChanges } from '../kind-rules.js';
import type { Problems } from '../problems.js';
import { checkFailurePolicy, checkSuccessPolicy } from '../validation/job-policies.js';
import { checkLabelSelector, selects, templateLabels } from '../validation/labels.js';
import { checkPrefixedPath } from '../validation/paths.js';
import { checkPodTemplate } from '../validation/pod-spec.js';
import { isTimeZone, scheduleProblem } from '../validation/schedule.js';
import { podTemplateWarnings } from '../validation/warnings.js';

const PREFIX = 'batch.kubernetes.io/';
const PARALLELISM_MAX_INDEXED = 100_000;
/** The names of a cron job's jobs are eleven characters longer. */
const CRON_JOB_NAME_LENGTH_MAX = 52;
/** Fields of the pod template that a suspended job may still change. */
const SCHEDULING_DIRECTIVES = ['nodeSelector', 'affinity', 'tolerations', 'schedulingGates'];

/** Sets labels and selector by the uid of the job, unless `manualSelector` is set. */
function generateSelector(job: JsonObject): void {
  const spec = childOrNew(job, 'spec');
  if (flag(spec, 'manualSelector')) return;
  const metadata = child(job, 'metadata');
  const uid = text(metadata, 'uid');
  const name = text(metadata, 'name');
  fill(childOrNew(childOrNew(childOrNew(spec, 'template'), 'metadata'), 'labels'), {
    'job-name': name,
    [`${PREFIX}job-name`]: name,
    'controller-uid': uid,
    [`${PREFIX}controller-uid`]: uid,
  });
  fill(childOrNew(childOrNew(spec, 'selector'), 'matchLabels'), { [`${PREFIX}controller-uid`]: uid });
}

function checkGeneratedSelector(job: JsonObject, problems: Problems): void {
  const spec = specOf(job);
  const selector = child(spec, 'selector');
  if (flag(spec, 'manualSelector') || selector === undefined) return;
  const metadata = child(job, 'metadata');
  const uid = text(metadata, 'uid');
  const labels = textMap(child(child(spec, 'template'), 'metadata'), 'labels');
  for (const [key, value] of Object.entries({ 'controller-uid': uid, 'job-name': text(metadata, 'name') })) {
    for (const label of [key, `${PREFIX}${key}`]) {
      const found = Object.hasOwn(labels, label) ? labels[label] : undefined;
      const field = 'spec.template.metadata.labels';
      if (found === undefined) problems.required(`${field}[${label}]`, `must be '${value}'`);
      else if (found !== value) problems.invalid(field, labels, `must be '${value}'`);
    }
  }
  const isGenerated = jsonEqual(selector, { matchLabels: { [`${PREFIX}controller-uid`]: uid } });
  if (!isGenerated) problems.invalid('spec.selector', selector, '`selector` not auto-generated');
}

function checkJobSpec(problems: Problems, field: string, spec: JsonObject): void {
  problems.nonNegativeMembers(spec, field, 'parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit');
  problems.nonNegativeMembers(spec, field, 'ttlSecondsAfterFinished', 'backoffLimitPerIndex', 'maxFailedIndexes');
  checkCompletionMode(problems, field, spec);
  if (has(spec, 'managedBy')) checkPrefixedPath(problems, `${field}.managedBy`, text(spec, 'managedBy'));
  checkFailurePolicy(problems, `${field}.podFailurePolicy`, spec);
  checkSuccessPolicy(problems, `${field}.successPolicy`, spec);
  const replacements = has(spec, 'podFailurePolicy') ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  problems.optionalOneOf(spec, field, 'podReplacementPolicy', replacements);
  checkPodTemplate(problems, `${field}.template`, child(spec, 'template'));
  checkRestartPolicy(problems, `${field}.template.spec.restartPolicy`, spec);
}

function checkCompletionMode(problems: Problems, field: string, spec: JsonObject): void {
  if (has(spec, 'maxFailedIndexes') && !has(spec, 'backoffLimitPerIndex')) {
    problems.required(`${field}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified');
  }
  const mode = text(spec, 'completionMode');
  problems.optionalOneOf(spec, field, 'completionMode', ['NonIndexed', 'Indexed']);
  if (mode === 'Indexed') {
    if (!has(spec, 'completions')) problems.required(`${field}.completions`, 'when completion mode is Indexed');
    const parallelism = number(spec, 'parallelism') ?? 0;
    if (parallelism > PARALLELISM_MAX_INDEXED) {
      const rule = `must be less than or equal to ${PARALLELISM_MAX_INDEXED} when completion mode is Indexed`;
      problems.invalid(`${field}.parallelism`, parallelism, rule);
    }
    return;
  }
  if (mode !== '' && mode !== 'NonIndexed') return;
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
    const value = number(spec, name);
    if (value !== undefined) problems.invalid(`${field}.${name}`, value, 'requires indexed completion mode');
  }
}

function checkRestartPolicy(problems: Problems, field: string, spec: JsonObject): void {
  const policy = text(podSpecOf(spec), 'restartPolicy');
  if (policy === 'Always' || policy === '') problems.required(field, 'valid values: "OnFailure", "Never"');
  else if (policy !== 'OnFailure' && policy !== 'Never') problems.unsupported(field, policy, ['OnFailure', 'Never']);
  else if (has(spec, 'podFailurePolicy') && policy !== 'Never') {
    problems.invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified');
  }
}

function checkJob(job: JsonObject, problems: Problems): void {
  const spec = specOf(job);
  checkJobSpec(problems, 'spec', spec);
  const selector = child(spec, 'selector');
  if (selector === undefined) problems.required('spec.selector');
  checkLabelSelector(problems, 'spec.selector', selector);
  const labels = templateLabels(child(spec, 'template'));
  if (selects(selector, labels) === false) {
    problems.invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`');
  }
}

function checkPodNames(job: JsonObject, problems: Problems): void {
  const spec = specOf(job);
  const completions = number(spec, 'completions') ?? 0;
  if (text(spec, 'completionMode') !== 'Indexed' || completions <= 0) return;
  const name = text(child(job, 'metadata'), 'name');
  const hostname = `${name}-${completions - 1}`;
  if (dnsLabelProblems(hostname).length === 0) return;
  problems.invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${hostname}`);
}

/** The template with the live values of the fields that a suspended job may change. */
function withoutDirectives(template: JsonObject | undefined, before: JsonObject | undefined): JsonObject {
  const spec: JsonObject = { ...child(template, 'spec') };
  restore(spec, specOf(before), ...SCHEDULING_DIRECTIVES);
  return { ...template, ...(has(before, 'metadata') ? { metadata: before!['metadata']! } : {}), spec };
}

function checkJobUpdate(job: JsonObject, live: JsonObject, problems: Problems): void {
  const spec = specOf(job);
  const before = specOf(live);
  const keeps = (name: string): void => keepsMember(problems, `spec.${name}`, spec, before);
  if (text(spec, 'completionMode') !== 'Indexed') keeps('completions');
  else if (!jsonEqual(spec['completions'], before['completions']) && spec['completions'] !== spec['parallelism']) {
    const rule = 'can only be modified in tandem with spec.parallelism';
    problems.invalid('spec.completions', spec['completions'], rule);
  }
  keeps('selector');
  const isUnstarted = flag(before, 'suspend') && !has(child(live, 'status'), 'startTime');
  const template = child(spec, 'template');
  const wished = isUnstarted ? withoutDirectives(template, child(before, 'template')) : template;
  if (!jsonEqual(wished, before['template'])) {
    problems.invalid('spec.template', internalForm(template, 'PodTemplateSpec'), IMMUTABLE);
  }
  for (const name of ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy']) {
    keeps(name);
  }
}

const JOBS: KindRules = {
  generationChanges: specChanges,
  prepareForCreate: generateSelector,
  validate: checkJob,
  validateCreate: (job, problems) => {
    checkGeneratedSelector(job, problems);
    checkPodNames(job, problems);
  },
  validateUpdate: checkJobUpdate,
  warnings: (job) => podTemplateWarnings('spec.template.spec', podSpecOf(specOf(job))),
};

function checkCronJob(cronJob: JsonObject, problems: Problems, live: JsonObject | undefined): void {
  const spec = specOf(cronJob);
  const before = child(live, 'spec');
  checkSchedule(problems, spec, before);
  problems.nonNegative('spec.startingDeadlineSeconds', number(spec, 'startingDeadlineSeconds'));
  if (before === undefined || before['timeZone'] !== spec['timeZone']) checkTimeZone(problems, spec);
  problems.oneOf('spec.concurrencyPolicy', text(spec, 'concurrencyPolicy'), ['Allow', 'Forbid', 'Replace']);
  const template = specOf(child(spec, 'jobTemplate') ?? {});
  checkJobSpec(problems, 'spec.jobTemplate.spec', template);
  if (has(template, 'selector')) {
    problems.invalid('spec.jobTemplate.spec.selector', template['selector'], '`selector` will be auto-generated');
  }
  if (flag(template, 'manualSelector')) {
    problems.unsupported('spec.jobTemplate.spec.manualSelector', true, ['nil', 'false']);
  }
  problems.nonNegativeMembers(spec, 'spec', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit');
}

function checkSchedule(problems: Problems, spec: JsonObject, before: JsonObject | undefined): void {
  const schedule = text(spec, 'schedule');
  if (schedule === '') {
    problems.required('spec.schedule');
    return;
  }
  const problem = scheduleProblem(schedule);
  if (problem !== undefined) problems.invalid('spec.schedule', schedule, problem);
  if (!schedule.includes('TZ')) return;
  if (!text(before, 'schedule').includes('TZ')) {
    const rule = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
    problems.invalid('spec.schedule', schedule, rule);
  } else if (has(spec, 'timeZone')) {
    problems.invalid('spec.schedule', schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
  }
}

function checkTimeZone(problems: Problems, spec: JsonObject): void {
  if (!has(spec, 'timeZone')) return;
  const zone = text(spec, 'timeZone');
  if (zone === '') problems.invalid('spec.timeZone', zone, 'timeZone must be nil or non-empty string');
  else if (zone.toLowerCase() === 'local') {
    const rule = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    problems.invalid('spec.timeZone', zone, rule);
  } else if (!isTimeZone(zone)) problems.invalid('spec.timeZone', zone, `unknown time zone ${zone}`);
}

const CRON_JOBS: KindRules = {
  generationChanges: specChanges,
  validate: (cronJob, problems, _around, live) => checkCronJob(cronJob, problems, live),
  validateCreate: (cronJob, problems) => {
    const name = text(child(cronJob, 'metadata'), 'name');
    if (name.length > CRON_JOB_NAME_LENGTH_MAX) {
      problems.invalid('metadata.name', name, `must be no more than ${CRON_JOB_NAME_LENGTH_MAX} characters`);
    }
  },
  warnings: (cronJob) =>
    podTemplateWarnings(
      'spec.jobTemplate.spec.template.spec',
      podSpecOf(specOf(child(specOf(cronJob), 'jobTemplate') ?? {})),
    ),
};

export const BATCH_RULES: KindRulesTable = { 'batch/jobs': JOBS, 'batch/cronjobs': CRON_JOBS };
