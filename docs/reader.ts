import {
  Application,
  ArrayType,
  Converter,
  type DeclarationReflection,
  IntersectionType,
  type ParameterReflection,
  ReflectionKind,
  ReflectionType,
  RestType,
  TupleType,
  type TypeDocOptions,
  TypeOperatorType,
} from 'typedoc'
import ts from 'typescript'

// Typedoc, and what it reads wrong: it takes a parameter `readonly [A, ...B[]]` for `readonly [A, B]`, and of `{ a: A } & { b: B }` it
// shows no member.

export async function createReader(options: TypeDocOptions): Promise<Application> {
  const app = await Application.bootstrapWithPlugins(options)
  keepRestElements(app)
  joinObjects(app)
  return app
}

function keepRestElements({ converter }: Application): void {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, (context) => {
    for (const reflection of context.project.getReflectionsByKind(ReflectionKind.Parameter)) {
      const parameter = reflection as ParameterReflection // of that kind
      const declaration = context.getSymbolFromReflection(parameter)?.valueDeclaration
      if (declaration !== undefined && ts.isParameter(declaration)) mend(parameter, declaration)
    }
  })
}

function mend({ type }: ParameterReflection, { type: written }: ts.ParameterDeclaration): void {
  if (!(type instanceof TypeOperatorType) || !(type.target instanceof TupleType)) return
  if (written === undefined || !ts.isTypeOperatorNode(written)) return
  const { type: tuple } = written
  if (!ts.isTupleTypeNode(tuple)) return
  const { elements } = type.target
  for (const [at, element] of tuple.elements.entries()) {
    const read = elements[at]
    if (!ts.isRestTypeNode(element) || read === undefined || read instanceof RestType) continue
    elements[at] = new RestType(new ArrayType(read))
  }
}

function joinObjects({ converter }: Application): void {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    const { Parameter, Property } = ReflectionKind
    const found = [Parameter, Property].flatMap((kind) => project.getReflectionsByKind(kind))
    // Those of these kinds have a type.
    for (const typed of found as (ParameterReflection | DeclarationReflection)[]) {
      if (!(typed.type instanceof IntersectionType)) continue
      const objects = typed.type.types.filter((each) => each instanceof ReflectionType)
      const [first, ...others] = objects
      if (first === undefined || objects.length < typed.type.types.length) continue
      for (const { declaration } of others) {
        for (const child of declaration.children ?? []) {
          child.parent = first.declaration
          first.declaration.addChild(child)
        }
        delete declaration.children
        project.removeReflection(declaration)
      }
      typed.type = first
    }
  })
}
