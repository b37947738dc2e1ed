import { Button, Group, Modal, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Tenant } from '../../api/access-queries.ts'
import { ApiError, api, ask, type Schema } from '../../api/client.ts'
import { newId } from '../../api/new-id.ts'
import { exactMoney } from '../../format/money.ts'
import { formErrors } from '../../parts/form-errors.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Notice } from '../../parts/state.tsx'
import { done } from '../../parts/toast.tsx'
import { sumOf } from '../access/access-words.ts'

/**
 * Books a top-up or an adjustment. The page makes the entry's id when the dialog opens and keeps it until the
 * gateway has answered, also while the dialog is closed: a double click, or a second try after a lost answer,
 * books once, and is told so.
 */
export function BookEntry({
  of,
  opened,
  onClose,
  balance,
}: {
  of: Tenant
  opened: boolean
  onClose(): void
  balance: string | undefined
}) {
  const { form, earlier, error, isBusy, book, close } = useBooking(of, onClose)
  const { kind, amount_usd } = form.values
  const after = balance === undefined ? undefined : sumOf(balance, amount_usd)
  return (
    <Modal opened={opened} onClose={close} title={`Book an entry for ${of.name}`} closeOnClickOutside={false}>
      <form onSubmit={book}>
        <Stack gap={12}>
          <SegmentedControl
            aria-label="Kind"
            data={[
              { value: 'top_up', label: 'Top-up' },
              { value: 'adjustment', label: 'Adjustment' },
            ]}
            {...form.getInputProps('kind')}
          />
          <TextInput
            label="Amount, USD"
            description={
              kind === 'top_up' ? 'It brings money.' : 'It brings money or, with a minus, takes it.'
            }
            placeholder={kind === 'top_up' ? '50.25' : '-12.50'}
            inputMode="decimal"
            autoComplete="off"
            required
            data-autofocus
            {...form.getInputProps('amount_usd')}
          />
          <TextInput
            label="Note"
            placeholder="Invoice 2026-1187"
            maxLength={1_000}
            {...form.getInputProps('note')}
          />
          <div className="tg-quiet">
            {after === undefined || balance === undefined
              ? 'Entries are never changed and never deleted.'
              : `The balance goes from ${exactMoney(balance)} to ${exactMoney(after)}. Entries are never changed and never deleted.`}
          </div>
          {earlier === undefined ? null : <Before earlier={earlier} />}
          {error === undefined ||
          Object.keys(formErrors(error)).some((path) => path in form.values) ? null : (
            <Problem error={error} doing="Book entry" />
          )}
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={close}>
              {earlier === undefined ? 'Cancel' : 'Close'}
            </Button>
            <Button type="submit" loading={isBusy}>
              {kind === 'top_up' ? 'Book top-up' : 'Book adjustment'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

/** The entry that is written, and what became of booking it. */
function useBooking(of: Tenant, onClose: () => void) {
  const queryClient = useQueryClient()
  const [id, setId] = useState(newId)
  const [error, setError] = useState<unknown>()
  /** What an earlier try has booked, whose answer was lost. */
  const [earlier, setEarlier] = useState<Earlier>()
  const [isBusy, setBusy] = useState(false)
  const form = useForm({
    initialValues: { kind: 'top_up', amount_usd: '', note: '' },
    validate: {
      amount_usd: (value, { kind }) => {
        if (!/^-?\d+(\.\d{1,9})?$/.test(value.trim()))
          return 'Write a decimal number of USD with a dot and at most 9 decimals, such as 50.25.'
        return kind === 'top_up' && value.trim().startsWith('-')
          ? 'A top-up brings money. Choose “Adjustment” to take some.'
          : null
      },
    },
  })
  const close = () => {
    setError(undefined)
    setEarlier(undefined)
    form.reset()
    onClose()
  }
  const book = form.onSubmit(async (values) => {
    if (isBusy) return
    setBusy(true)
    setError(undefined)
    setEarlier(undefined)
    let isNew = true
    try {
      const { entry } = await ask(
        api
          .POST('/admin/v1/tenants/{id}/entries', {
            params: { path: { id: of.id } },
            body: {
              id,
              kind: values.kind === 'adjustment' ? 'adjustment' : 'top_up',
              amount_usd: values.amount_usd.trim(),
              ...(values.note.trim() === '' ? {} : { note: values.note.trim() }),
            },
          })
          .then((answer) => {
            isNew = answer.response.status === 201
            return answer
          }),
      )
      // The next one is another entry.
      setId(newId())
      void queryClient.invalidateQueries({ queryKey: ['tenants'] })
      if (isNew) {
        done(`${exactMoney(entry.amount_nano_usd)} is booked for ${of.name}`)
        close()
      } else setEarlier({ entry })
    } catch (cause) {
      if (cause instanceof ApiError && cause.status === 422) {
        setId(newId())
        setEarlier({ entry: undefined })
        void queryClient.invalidateQueries({ queryKey: ['tenants'] })
        return
      }
      setError(cause)
      form.setErrors(formErrors(cause))
    } finally {
      setBusy(false)
    }
  })
  return { form, earlier, error, isBusy, book, close }
}

/** Undefined: the earlier try had another amount, kind or note. */
interface Earlier {
  entry: Schema<'BookedEntry'>['entry'] | undefined
}

function Before({ earlier: { entry } }: { earlier: Earlier }) {
  return (
    <Notice tone="warning">
      {entry === undefined ? (
        <>
          An earlier try, whose answer was lost, has booked something else. Nothing was booked now. Look at
          the entries first.
        </>
      ) : (
        <>
          An earlier try, whose answer was lost, booked {exactMoney(entry.amount_nano_usd)} at{' '}
          <Moment at={entry.created_at} />. Nothing was booked now.
        </>
      )}{' '}
      Press the button again to book this as one more entry.
    </Notice>
  )
}
