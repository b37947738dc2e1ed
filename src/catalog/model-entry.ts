import { z } from 'zod'
import { settingsOfModels } from '../db/settings/model-settings.ts'
import { membersOf, valuesOf } from '../db/settings/setting.ts'
import { name } from '../db/settings/values.ts'
import { priceEntry } from './price-entry.ts'
import { traitEntry } from './trait-entry.ts'

/** An entry of `models` in gateway.yaml. */
export const modelEntry = z
  .strictObject({
    id: name(256),
    ...membersOf(settingsOfModels, 'entry'),
    price: priceEntry.optional(),
    traits: traitEntry.optional(),
  })
  .transform(({ id, price, traits, ...settings }) => ({
    id,
    price,
    traits,
    ...valuesOf(settingsOfModels, settings),
  }))
