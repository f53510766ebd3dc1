import { createVerifier } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import express from 'express'
import express4 from 'express4'
import fc from 'fast-check'
import fastify from 'fastify'
import fastify4 from 'fastify4'
import { describe, expect, test } from 'vitest'

import { MODEL_LIMIT, modelRuns } from '../../model-runs.ts'
import { type Built, check, noFigures } from './claim.ts'
import { buildExpress } from './express.ts'
import { buildFastify, FASTIFY_PATHS, FASTIFY_WORDS } from './fastify.ts'
import { buildHono, HONO_PATHS, HONO_WORDS } from './hono.ts'
import { buildKoa } from './koa.ts'
import { buildNest, MAJORS, NEST_PATHS, NEST_WORDS } from './nest.ts'
import { asked, type Tree, treesOf } from './tree.ts'

// Random applications of each framework: no route that the list calls required answers a stranger, unless a function has acted that the
// list names before its guard. And whatever answers a stranger has an entry.

const TREES = 100

const { verifierOptions } = await createTestIssuer()
const verifier = createVerifier(verifierOptions)

type Row = [string, fc.Arbitrary<Tree>, (tree: Tree) => Promise<Built>]

const frameworks: readonly Row[] = [
  ['Express 5', treesOf(), (tree) => buildExpress(express, false, tree, verifier)],
  [
    'Express 4',
    treesOf(),
    // What the trees use, both majors have alike, with types of their own.
    (tree) => buildExpress(express4 as unknown as typeof express, true, tree, verifier),
  ],
  ['Koa', treesOf(), (tree) => buildKoa(tree, verifier)],
  [
    'Fastify 5',
    treesOf(FASTIFY_WORDS, FASTIFY_PATHS),
    (tree) => buildFastify(fastify, false, tree, verifier),
  ],
  [
    'Fastify 4',
    treesOf(FASTIFY_WORDS, FASTIFY_PATHS),
    (tree) => buildFastify(fastify4 as unknown as typeof fastify, true, tree, verifier),
  ],
  ['Hono', treesOf(HONO_WORDS, HONO_PATHS), (tree) => buildHono(tree, verifier)],
  ...([12, 11] as const).flatMap((major) =>
    ['Express', 'Fastify'].map((platform): Row => [
      `Nest ${major} on ${platform}`,
      treesOf(NEST_WORDS, NEST_PATHS),
      (tree) => buildNest(MAJORS[major], platform === 'Fastify', tree, verifier),
    ]),
  ),
]

describe.each(frameworks)('%s', (name, trees, build) => {
  test(
    'no route that is called required answers a stranger',
    async () => {
      const figures = noFigures()
      await fc.assert(
        fc.asyncProperty(trees, asked, async (tree, requests) => {
          const built = await build(tree)
          try {
            await check(built, requests, figures)
          } finally {
            await built.close()
          }
        }),
        modelRuns(TREES, 53, 1 / frameworks.length),
      )
      if (process.env['ROUTE_FIGURES'] !== undefined) console.log(name, JSON.stringify(figures))
      // That says something: there are routes of each state, and lists could have been refuted.
      const { states, trees: built, refutable, reached } = figures
      for (const count of Object.values(states)) expect(count).toBeGreaterThan(built / 20)
      expect(refutable).toBeGreaterThan(built / 4)
      expect(reached).toBeGreaterThan(built / 2)
    },
    MODEL_LIMIT,
  )
})
