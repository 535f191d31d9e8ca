// SPDX-License-Identifier: MIT
// Runs the pinned Khronos glTF validator over files and prints TAP. Errors fail a file; warnings and less do not.
// Usage: node validate.mjs FILE...
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { validateBytes, version } from 'gltf-validator';

const SEVERITY_ERROR = 0;

async function validate(file) {
  const bytes = new Uint8Array(await readFile(file));
  return validateBytes(bytes, {
    uri: file.split('/').pop(),
    maxIssues: 0,
    externalResourceFunction: async (uri) =>
      new Uint8Array(await readFile(resolve(dirname(file), decodeURIComponent(uri)))),
  });
}

const files = process.argv.slice(2);
if (files.length === 0) {
  console.error('usage: node validate.mjs FILE...');
  process.exit(2);
}
console.log(`# gltf-validator ${version()}`);
console.log(`1..${files.length}`);
let failed = 0;
for (const [index, file] of files.entries()) {
  let errors;
  try {
    const report = await validate(file);
    errors = report.issues.messages
      .filter((issue) => issue.severity === SEVERITY_ERROR)
      .map((issue) => `${issue.code} ${issue.pointer ?? `byte ${issue.offset}`}: ${issue.message}`);
    if (report.issues.numErrors > errors.length) {
      errors.push(`${report.issues.numErrors - errors.length} more errors`);
    }
  } catch (failure) {
    errors = [String(failure)];
  }
  console.log(`${errors.length === 0 ? 'ok' : 'not ok'} ${index + 1} - ${file}`);
  for (const text of errors) {
    console.log(`# ${text}`);
  }
  failed += errors.length === 0 ? 0 : 1;
}
process.exit(failed === 0 ? 0 : 1);
