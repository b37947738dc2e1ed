import type { ImportFile } from './import-file.ts'
import type { Imported } from './imported.ts'
import { draftFromLiteLlm } from './lite-llm.ts'
import { draftFromNewApi } from './new-api.ts'
import { Problems } from './problems.ts'
import { type SettleTerms, settle } from './settle.ts'
import type { Tables } from './sql-dump.ts'

/** Reads LiteLLM's config.yaml, and its keys if any. Throws an ImportError if it cannot be imported. */
export function readLiteLlm(
  { config, keys }: { config: ImportFile; keys: ImportFile | undefined },
  terms: SettleTerms,
): Imported {
  const problems = new Problems()
  const source = { config: config.text, keys: keys?.text, env: terms.env }
  return settle(draftFromLiteLlm(source, problems), problems, terms)
}

/** Reads the tables of new-api. Throws an ImportError if they cannot be imported. */
export function readNewApi(tables: Tables, terms: SettleTerms): Imported {
  const problems = new Problems()
  return settle(draftFromNewApi(tables, problems), problems, terms)
}
