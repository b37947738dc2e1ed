import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Reason, reasons } from '../../src/canonical/reasons/catalogue.ts'

/** Reasons that no test names, and why. */
const notCaused: Partial<Record<Reason, string>> = {
  request_cut: 'its client has left, so no one reads the answer',
  client_left: 'its client has left, so no one reads the answer',
  upstream_not_wanted: 'its client has left, so no one reads the answer',
  upstream_call_abandoned: 'its client has left, so no one reads the answer',
  upstream_refusal_too_long: 'it only ends the call: the refusal is what has been read',
  kept_turns_too_large: 'no test bounds bodies below the conversations that are kept',
  request_with_files_too_large: 'files/file-ids.test.ts causes it, and sees its status',
  upload_late: 'no test waits for as long as an upload may take',
  background_cost_unseen: 'no test has a spending limit and an answer that a vendor makes in the background',
  background_queue_full: 'jobs/tenant-locks.test.ts causes the verdict in SQL alone',
  image_queue_full: 'jobs/tenant-locks.test.ts causes the verdict in SQL alone',
  model_gone: 'a model would have to go while an image job waits',
  model_without_channel: 'routing/routing.test.ts causes it, and sees its kind',
  no_channel_tried: 'every known way to it has a reason of its own',
  upstreams_cool_down: 'routing tests cause it, and see its kind and its time',
  conversation_lost: 'a conversation would have to go between its claim and the end of the answer',
  answer_not_for_conversation: 'no test has an answer that is too large to be copied',
  prepared_not_in_conversation: 'a frame has no header: kept/conversations-lasting.test.ts causes it',
  kept_chain_too_long: 'kept/lasting.test.ts causes it, and sees the code of the vendor',
  thread_continue_in_flight:
    'a race decides between it and thread_already_continued: threads/threads.test.ts',
  idempotent_job_running: 'no test repeats an image request while its job runs',
  idempotent_answer_gone: 'no test repeats a request whose job has been removed',
  compaction_incomplete: 'no scripted model gives half a summary',
  answer_too_large_to_translate: 'a stream has no header: gateway/traps.test.ts causes it',
  socket_answer_broke_off: 'an answer ends with an event of its own, whatever its upstream does',
  upstream_streams_unasked: 'no scripted upstream streams images by itself',
  upstream_image_text_too_large: 'a job has no header: images/image-partial.test.ts causes it',
  upstream_image_link_failed: 'a job has no header: images/image-partial.test.ts causes it',
  images_made_while_draining: 'jobs/shutdown.test.ts gets the job in its place',
  socket_closing: 'a frame would have to come between two events of the process',
  images_unreadable: 'image-answers.test.ts causes it, and gets the job in its place',
  file_unreadable: 'no test has a storage of files that fails to read',
}

const words = Object.keys(reasons) as Reason[]

test('every reason is caused by a test that names it, or says why none can', () => {
  const self = 'test/canonical/reasons.test.ts'
  const texts = globSync('test/**/*.{ts,tsx}').filter((file) => file !== self)
  const quoted = new Set(
    texts.flatMap((file) => readFileSync(file, 'utf8').match(/(?<=['"`])[a-z_]+(?=['"`])/g) ?? []),
  )
  expect(words.filter((word) => !quoted.has(word) && notCaused[word] === undefined)).toEqual([])
  expect(words.filter((word) => quoted.has(word) && notCaused[word] !== undefined)).toEqual([])
})

test('every reason is a word of snake_case, and says in a clause what a client does', () => {
  for (const word of words) {
    expect(word).toMatch(/^[a-z]+(_[a-z0-9]+)*$/)
    expect(reasons[word].client, word).toMatch(/^[a-z][ -~]+[^.]$/)
  }
})
