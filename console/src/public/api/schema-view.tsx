import { ChevronRightIcon } from '@primer/octicons-react'
import { useState } from 'react'
import classes from './api.module.css'
import { type JsonSchema, type OpenApi, resolved } from './openapi-document.ts'
import { Words } from './words.tsx'

/** A body that unfolds. Nothing of it is drawn before: schemas may contain themselves. */
export function SchemaFold({
  document,
  title,
  type,
  schema,
  words,
}: {
  document: OpenApi
  title: string
  type: string
  schema: JsonSchema
  words?: string | undefined
}) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className={classes.fold} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <ChevronRightIcon size={14} aria-hidden />
        <span className={classes.foldTitle}>{title}</span>
        <span className="tg-quiet">{type}</span>
      </summary>
      {isOpen ? (
        <div className={classes.folded}>
          {words === undefined ? null : <p>{words}</p>}
          <Members document={document} schema={schema} />
        </div>
      ) : null}
    </details>
  )
}

function Members({ document, schema }: { document: OpenApi; schema: JsonSchema }) {
  const { properties, required, additionalProperties, items, description } = flat(document, schema)
  const names = Object.entries(properties ?? {})
  if (names.length === 0 && items !== undefined) return <Members document={document} schema={items} />
  return (
    <>
      {description === undefined ? null : (
        <p>
          <Words text={description} />
        </p>
      )}
      {names.length === 0 ? <p className="tg-quiet">{typeOf(document, schema)}</p> : null}
      <ul className={classes.members}>
        {names.map(([name, member]) => (
          <Member
            key={name}
            document={document}
            name={name}
            schema={member}
            isRequired={required?.includes(name) ?? false}
          />
        ))}
        {names.length > 0 && additionalProperties === true ? (
          <li className="tg-quiet">and the other members of the vendor’s format</li>
        ) : null}
      </ul>
    </>
  )
}

function Member({
  document,
  name,
  schema,
  isRequired,
}: {
  document: OpenApi
  name: string
  schema: JsonSchema
  isRequired: boolean
}) {
  const [isOpen, setIsOpen] = useState(false)
  const { description } = resolved(document, schema)
  const head = (
    <>
      <code>{name}</code> <span className="tg-quiet">{typeOf(document, schema)}</span>
      {isRequired ? <span className={classes.required}>required</span> : null}
      {description === undefined ? null : (
        <div className={classes.words}>
          <Words text={description} />
        </div>
      )}
    </>
  )
  if (!hasMembers(document, schema)) return <li>{head}</li>
  return (
    <li>
      <details className={classes.member} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>
          <ChevronRightIcon size={12} aria-hidden />
          <div>{head}</div>
        </summary>
        {isOpen ? (
          <Members document={document} schema={{ ...flat(document, schema), description: '' }} />
        ) : null}
      </details>
    </li>
  )
}

function hasMembers(document: OpenApi, schema: JsonSchema): boolean {
  const { properties, items } = flat(document, schema)
  if (properties !== undefined) return Object.keys(properties).length > 0
  return items === undefined ? false : hasMembers(document, items)
}

/** Without references, and with the members of all alternatives: a reader wants to see what there can be. */
function flat(document: OpenApi, schema: JsonSchema): JsonSchema {
  const one = resolved(document, schema)
  const parts = [...(one.anyOf ?? []), ...(one.oneOf ?? []), ...(one.allOf ?? [])]
  if (parts.length === 0) return one
  const flattened = parts.map((part) => flat(document, part))
  const properties = Object.assign({}, one.properties, ...flattened.map((part) => part.properties))
  const items = one.items ?? flattened.find((part) => part.items !== undefined)?.items
  return {
    ...one,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(items === undefined ? {} : { items }),
  }
}

/** `integer, 1 to 200, 50 unless given`. */
export function typeOf(document: OpenApi, schema: JsonSchema): string {
  const one = resolved(document, schema)
  const words = [nameOf(document, one), boundsOf(one)]
  if (one.default !== undefined && one.default !== null) words.push(`${String(one.default)} unless given`)
  return words.filter((word) => word !== '').join(', ')
}

function nameOf(document: OpenApi, schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  if (parts.length > 0) {
    return [...new Set(parts.map((part) => nameOf(document, resolved(document, part))))].join(' | ')
  }
  if (schema.items !== undefined) {
    return `list of ${nameOf(document, resolved(document, schema.items))}${[schema.type].flat().includes('null') ? ' | null' : ''}`
  }
  const types = [schema.type ?? 'any'].flat().join(' | ')
  return schema.format === undefined ? types : `${types} (${schema.format})`
}

function boundsOf(schema: JsonSchema): string {
  const { minimum, maximum, maxLength, maxItems } = schema
  // JSON Schema's own bounds of integers say nothing.
  const isReal = (bound: number | undefined) =>
    bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER
  const range = isReal(minimum)
    ? isReal(maximum)
      ? `${minimum} to ${maximum}`
      : `at least ${minimum}`
    : isReal(maximum)
      ? `at most ${maximum}`
      : ''
  const length = maxLength === undefined ? '' : `at most ${maxLength} characters`
  const count = maxItems === undefined ? '' : `at most ${maxItems} of them`
  return [range, length, count].filter((word) => word !== '').join(', ')
}
