import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { repository } from '../support/former-release.ts'

/** docker-compose.yml and .env.example. */
export const composeText = readFileSync(join(repository, 'docker-compose.yml'), 'utf8')
const example = readFileSync(join(repository, '.env.example'), 'utf8')

/** The variables of .env.example, with a value where it asks for one. */
export const variables = Object.fromEntries(
  [...example.matchAll(/^([A-Z0-9_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [
    name,
    value || 'x'.repeat(64),
  ]),
)

const strings = z.array(z.string()).default([])
const service = z.looseObject({
  image: z.string(),
  build: z.string().optional(),
  pull_policy: z.string().optional(),
  hostname: z.string().optional(),
  command: strings,
  environment: z.record(z.string(), z.string()).default({}),
  volumes: strings,
  networks: strings,
  depends_on: z.record(z.string(), z.unknown()).default({}),
  read_only: z.boolean().default(false),
  tmpfs: strings,
  cap_drop: strings,
  security_opt: strings,
  shm_size: z.string().optional(),
  healthcheck: z.object({ test: strings, interval: z.string(), retries: z.number() }).optional(),
  stop_grace_period: z.string().optional(),
  restart: z.string().default('no'),
})
export type Service = z.output<typeof service>

const file = z.looseObject({
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.unknown()),
  networks: z.record(z.string(), z.unknown()),
})
export const composeFile: unknown = parse(composeText, { merge: true })
export const { services, volumes, networks } = file.parse(composeFile)

/** The gateways and workers. */
export const ours = Object.entries(services).filter(([, { image }]) => image === 'tollgate')

/** `${NAME:?message}` and `${NAME:-default}`, as compose reads them. */
export function filled(value: string): string {
  return value.replace(
    /\$\{([A-Z0-9_]+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, kind: string, rest: string) => {
      const known = variables[name]
      if (known !== undefined) return known
      if (kind === '-') return rest
      throw new Error(`${name} is not in .env.example`)
    },
  )
}
