import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { Page } from '../../parts/page.tsx'
import { Notice } from '../../parts/state.tsx'
import { ImportFileForm } from './import-file-form.tsx'
import { ImportPlan } from './import-plan.tsx'
import type { Asked, Plan } from './import-query.ts'
import { ImportResult } from './import-result.tsx'

/** Takes over what another gateway has: its file, the plan, and what was written. */
export function ImportPage() {
  const may = useMay()
  const queries = useQueryClient()
  const [asked, setAsked] = useState<Asked | undefined>(undefined)
  const [plan, setPlan] = useState<Plan | undefined>(undefined)
  const [result, setResult] = useState<Schema<'ImportResult'> | undefined>(undefined)
  const look = useMutation({
    mutationFn: (body: Asked) => ask(api.POST('/admin/v1/imports/plan', { body })),
    onSuccess: (found, body) => {
      setAsked(body)
      setPlan(found)
    },
  })
  const write = useMutation({
    mutationFn: async () => {
      if (asked === undefined || plan === undefined || plan.plan === null)
        throw new Error('There is no plan.')
      return await ask(api.POST('/admin/v1/imports', { body: { ...asked, plan: plan.plan } }))
    },
    onSuccess: async (written) => {
      setResult(written)
      // It may have changed all of them.
      await queries.invalidateQueries()
    },
  })
  const mayWrite = (['catalog', 'keys', 'tenants', 'money'] as const).every((area) => may(area, 'write'))
  const again = () => {
    setPlan(undefined)
    setResult(undefined)
    write.reset()
    look.reset()
  }
  const isShown = plan !== undefined && plan.missing_variables.length === 0
  return (
    <Page title="Import" lead="Models, channels, groups, tenants and keys of LiteLLM or new-api.">
      {!mayWrite ? (
        <Notice tone="quiet">
          Only owners and admins can import, because an import writes models, channels, tenants, keys and
          balances.
        </Notice>
      ) : result !== undefined ? (
        <ImportResult result={result} onAgain={again} />
      ) : isShown ? (
        <ImportPlan
          plan={plan}
          isWriting={write.isPending}
          error={write.error}
          onWrite={write.mutate}
          onBack={again}
          onLookAgain={() => {
            write.reset()
            if (asked !== undefined) look.mutate(asked)
          }}
        />
      ) : (
        <ImportFileForm
          began={asked}
          missing={plan?.missing_variables ?? []}
          isBusy={look.isPending}
          error={look.error}
          onLook={look.mutate}
        />
      )}
    </Page>
  )
}
