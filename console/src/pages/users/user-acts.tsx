import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import type { IfMatch, Tagged } from '../../api/tagged.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { done } from '../../parts/toast.tsx'
import { useUserEditing } from './user-query.ts'

export type UserAct = 'reset' | 'sessions' | 'factor' | 'disable' | 'delete'

/** What an owner does to another user, each after it is said what will happen. */
export function UserActs({
  of,
  act,
  onClose,
  onLink,
}: {
  of: Tagged<Schema<'User'>>
  act: UserAct
  onClose(): void
  onLink(link: Schema<'MadeLink'>): void
}) {
  const queryClient = useQueryClient()
  const editing = useUserEditing(of)
  const user = editing.base
  const path = { id: user.id }
  const { email } = user
  const reread = () => queryClient.invalidateQueries({ queryKey: ['users'] })
  if (act === 'delete') {
    return (
      <AskFirst
        opened
        onClose={onClose}
        verb="Delete user"
        name={email}
        editing={editing}
        act={async (header) => {
          await ask(api.DELETE('/admin/v1/users/{id}', { params: { path, header } }))
          await reread()
          done(`${email} is deleted`)
        }}
      >
        {email} cannot sign in any more. The API tokens of this person end, and their saved views are deleted.
        The audit log keeps what they did.
      </AskFirst>
    )
  }
  const isOn = user.disabled_at === null
  const acts: Record<
    Exclude<UserAct, 'delete'>,
    { verb: string; words: ReactNode; isBad?: boolean; run(header: IfMatch): Promise<void> }
  > = {
    reset: {
      verb: 'Make a password link',
      words: `You get a link by which ${email} sets a new password. Using it ends all sessions of this person. A link that was made before ends now.`,
      async run() {
        onLink(await ask(api.POST('/admin/v1/users/{id}/reset-link', { params: { path } })))
      },
    },
    sessions: {
      verb: 'End all sessions',
      words: `${email} is signed out everywhere, at once, and can sign in again.`,
      async run() {
        await ask(api.DELETE('/admin/v1/users/{id}/sessions', { params: { path } }))
        done(`All sessions of ${email} have ended`)
      },
    },
    factor: {
      verb: 'Remove second factor',
      isBad: true,
      words: `${email} can sign in with the password alone. Do this only for a person who has lost the app and the recovery codes, and whom you know.`,
      async run(header) {
        await ask(api.DELETE('/admin/v1/users/{id}/second-factor', { params: { path, header } }))
        await reread()
        done(`The second factor of ${email} is removed`)
      },
    },
    disable: {
      verb: isOn ? 'Disable user' : 'Enable user',
      isBad: isOn,
      words: isOn
        ? `${email} is signed out everywhere and cannot sign in until an owner enables the user again. Their API tokens stop too.`
        : `${email} can sign in again.`,
      async run(header) {
        await ask(api.PATCH('/admin/v1/users/{id}', { params: { path, header }, body: { disabled: isOn } }))
        await reread()
        done(`${email} is ${isOn ? 'disabled' : 'enabled'}`)
      },
    },
  }
  const { verb, words, isBad = false, run } = acts[act]
  return (
    <AskFirst opened onClose={onClose} verb={verb} isBad={isBad} editing={editing} act={run}>
      {words}
    </AskFirst>
  )
}
