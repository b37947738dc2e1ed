import { expect, inject, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { Violation } from './requests.ts'
import { World, type WorldOptions } from './world.ts'

/**
 * The journal, its shipping and its adoption in simulated worlds, in which processes die at any step. After each death, and at the
 * end of each world, every request has the row and the charge that it was promised, and nothing else is there.
 */

const deathsInWorld = 20
const deathsWanted = amount('SIMULATOR_DEATHS', { test: 2_000, chaos: 100_000 })
/** The only world that is to be run. */
const onlySeed = process.env.SIMULATOR_SEED

const settings = (['journal', 'postgres'] as const).flatMap((durability) =>
  (['process', 'disk'] as const).map((sync) => ({ durability, sync })),
)

test.each(settings)(
  'with DURABILITY=$durability and JOURNAL_SYNC=$sync, every request has its row, whatever dies',
  async (setting) => {
    const began = performance.now()
    let deaths = 0
    let requests = 0
    let minutes = 0
    const first = onlySeed === undefined ? inject('seed') : Number(onlySeed)
    for (let seed = first; deaths < deathsWanted / settings.length; seed++) {
      const report = await runWorld({ seed, deaths: deathsInWorld, ...setting })
      deaths += report.deaths
      requests += report.requests
      minutes += report.ms / 60_000
      if (onlySeed !== undefined) break
    }
    const rate = (1_000 * deaths) / (performance.now() - began)
    console.info(
      `${deaths} deaths among ${requests} requests in ${minutes.toFixed(0)} simulated minutes, ${rate.toFixed(0)} deaths a second`,
    )
  },
  60_000 + 100 * deathsWanted,
)

test('two runs of a seed are equal to the last step', async () => {
  for (const setting of settings) {
    const options = { seed: inject('seed') + 7, deaths: 10, ...setting }
    const report = await runWorld(options)
    expect(await runWorld(options)).toEqual(report)
  }
})

test.each([
  ['a disk that says synced and is not', { fault: 'syncs nothing', sync: 'disk', durability: 'journal' }],
  ['a transaction that keeps its position and loses its rows', { fault: 'loses rows' }],
  ['a transaction that keeps its rows and loses its position', { fault: 'loses positions' }],
] as const)('%s is found, and found again with its seed', async (_, fault) => {
  const found = async (seed: number) => {
    const run = new World({ seed, deaths: deathsInWorld, ...fault }).run()
    return run.then(
      () => undefined,
      (error: unknown) => error,
    )
  }
  let seed = inject('seed')
  while (!((await found(seed)) instanceof Violation)) seed++
  expect(seed).toBeLessThan(inject('seed') + 20)
  expect(await found(seed)).toEqual(await found(seed))
  expect(String(await found(seed))).toMatch(
    /no row of|is orphaned, although|is charged|shipped twice|before Postgres has|come to rest/,
  )
})

async function runWorld(options: WorldOptions) {
  try {
    return await new World(options).run()
  } catch (error) {
    const replay = `SIMULATOR_SEED=${options.seed} npm test -- test/simulator`
    console.error(`${replay} runs this world again; with SIMULATOR_TRACE=1 it prints what happens.`)
    throw error
  }
}
