/** Records the messages of Kubernetes' protobuf for src/apiserver/protobuf: `tsx test/real/record-messages.ts`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type RecordedMessages, recordMessages } from './record-protobuf-messages.js';

const MESSAGES = fileURLToPath(new URL('../../src/apiserver/protobuf/data/messages.json', import.meta.url));

function messagesText({ from, packages }: RecordedMessages): string {
  const lines = Object.entries(packages).map(([name, { apiVersion, kinds, messages }]) => {
    const each = Object.entries(messages).map(
      ([message, fields]) => `${JSON.stringify(message)}:${JSON.stringify(fields)}`,
    );
    const head = JSON.stringify({ apiVersion, kinds }).slice(1, -1);
    return `${JSON.stringify(name)}:{${head},"messages":{\n${each.join(',\n')}\n}}`;
  });
  return `{"from":${JSON.stringify(from)},"packages":{\n${lines.join(',\n')}\n}}\n`;
}

const recorded = await recordMessages();
for (const problem of recorded.problems) console.error(problem);
if (recorded.problems.length > 0) process.exitCode = 1;
writeFileSync(MESSAGES, messagesText(recorded));
