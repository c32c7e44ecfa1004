package io.varve.lua.interpreter;

import java.util.ArrayList;
import java.util.List;

import io.varve.lua.LuaError;
import io.varve.lua.syntax.Block;
import io.varve.lua.syntax.Expression;
import io.varve.lua.syntax.FunctionBody;
import io.varve.lua.syntax.LocalVariable;
import io.varve.lua.syntax.Statement;

/** Builds the nodes of a function from its syntax, and assigns registers. Confined to one thread. */
final class FunctionBuilder {
    private static final int CALL_BYTES = 400;
    private static final int BLOCK_BYTES = 80;
    private static final int LOOP_BYTES = 440;
    /** Chains such as {@code a+a+a} nest without a limit of the parser. */
    private static final int MAX_DEPTH = 600;
    private final String chunkName;
    private final FunctionBuilder outer;
    private final ExpressionBuilder expressions = new ExpressionBuilder(this);
    /** Registers of visible variables. */
    private int active;
    /** The first free register. */
    private int top;
    private int registers;
    private int depth;
    private int stackBytes;
    private int deepest;
    private int nodes;
    /** Its constant 0, which may be -0; null before the first. */
    private Double zero;

    /** @param outer the builder of the function around; null for a chunk */
    FunctionBuilder(String chunkName, FunctionBuilder outer) {
        this.chunkName = chunkName;
        this.outer = outer;
    }

    Prototype build(FunctionBody function) {
        List<LocalVariable> variables = new ArrayList<>(function.parameters());
        if (function.argTable() != null) {
            variables.add(function.argTable());
        }
        activate(variables.size());
        int[] cells = variables.stream().filter(LocalVariable::isCaptured).mapToInt(LocalVariable::slot).toArray();
        StatementNode body = block(function.body());
        if (outer != null) {
            outer.nodes += nodes;
        }
        LocalVariable arg = function.argTable();
        int argSlot = arg != null && function.fillsArgTable() ? arg.slot() : -1;
        return new Prototype(chunkName, function.parameters().size(), function.varArgs(), argSlot, cells, registers,
                function.upvalues(), body, CALL_BYTES + deepest);
    }

    int nodes() {
        return nodes;
    }

    Prototype inner(FunctionBody function) {
        return new FunctionBuilder(chunkName, this).build(function);
    }

    /** The constant of this function that equals 0: with the sign of the first one. */
    Double zero(double value) {
        if (zero == null) {
            zero = value;
        }
        return zero;
    }

    // ---- registers --------------------------------------------------------------------------------------------------

    int reserve(int count) {
        int first = top;
        top += count;
        registers = Math.max(registers, top);
        return first;
    }

    void release(int first) {
        top = first;
    }

    private void activate(int count) {
        active = count;
        top = count;
        registers = Math.max(registers, count);
    }

    /** Begins a node below the present one, which takes a part of the stack when it runs. */
    void enter(int bytes) {
        nodes++;
        depth++;
        stackBytes += bytes;
        deepest = Math.max(deepest, stackBytes);
        if (depth > MAX_DEPTH) {
            throw new LuaError(chunkName + ": chunk has too many syntax levels");
        }
    }

    void leave(int bytes) {
        depth--;
        stackBytes -= bytes;
    }

    // ---- statements -------------------------------------------------------------------------------------------------

    /** Statements in a scope of their own. */
    private StatementNode block(Block block) {
        int outside = active;
        StatementNode node = statements(block);
        activate(outside);
        return node;
    }

    private StatementNode statements(Block block) {
        StatementNode[] all = new StatementNode[block.statements().size()];
        enter(BLOCK_BYTES);
        for (int i = 0; i < all.length; i++) {
            Statement statement = block.statements().get(i);
            boolean loop = statement instanceof Statement.NumericFor || statement instanceof Statement.GenericFor;
            enter(loop ? LOOP_BYTES : BLOCK_BYTES);
            all[i] = statement(statement);
            leave(loop ? LOOP_BYTES : BLOCK_BYTES);
            top = active;
        }
        leave(BLOCK_BYTES);
        return all.length == 1 ? all[0] : new BlockNodes.Sequence(all);
    }

    private StatementNode statement(Statement statement) {
        return switch (statement) {
            case Statement.LocalDeclaration declaration -> localDeclaration(declaration);
            case Statement.LocalFunction function -> localFunction(function);
            case Statement.Assignment assignment -> assignment(assignment);
            case Statement.CallStatement call -> new CallNodes.CallStatement(expressions.build(call.call()));
            case Statement.Do body -> block(body.body());
            case Statement.While loop ->
                new BlockNodes.While(expressions.condition(loop.condition()), block(loop.body()));
            case Statement.Repeat loop -> repeat(loop);
            case Statement.If choice -> ifStatement(choice);
            case Statement.NumericFor loop -> numericFor(loop);
            case Statement.GenericFor loop -> genericFor(loop);
            case Statement.Return values -> returnStatement(values);
            case Statement.Break ignored -> new BlockNodes.Break();
        };
    }

    private StatementNode localDeclaration(Statement.LocalDeclaration declaration) {
        List<LocalVariable> variables = declaration.variables();
        List<Expression> values = declaration.values();
        int base = variables.getFirst().slot();
        StatementNode node;
        if (variables.size() == 1 && values.size() <= 1) {
            Node value = values.isEmpty()
                    ? new VariableNodes.Constant(null, declaration.line())
                    : expressions.build(values.getFirst());
            node = variables.getFirst().isCaptured()
                    ? new AssignmentNodes.NewCell(base, value)
                    : new AssignmentNodes.SetLocal(base, value);
        } else {
            boolean[] cells = cells(variables);
            node = new AssignmentNodes.DeclareLocals(base, cells, values(values, base, cells.length));
        }
        activate(base + variables.size());
        return node;
    }

    private static boolean[] cells(List<LocalVariable> variables) {
        boolean[] cells = new boolean[variables.size()];
        for (int i = 0; i < cells.length; i++) {
            cells[i] = variables.get(i).isCaptured();
        }
        return cells;
    }

    /** Expressions whose values go to registers from base on, as far as they are wanted. */
    private Node[] values(List<Expression> values, int base, int wanted) {
        Node[] nodes = new Node[values.size()];
        for (int i = 0; i < nodes.length; i++) {
            top = base + Math.min(i, wanted);
            nodes[i] = expressions.build(values.get(i));
        }
        top = base;
        reserve(wanted);
        return nodes;
    }

    private StatementNode localFunction(Statement.LocalFunction function) {
        int slot = function.variable().slot();
        activate(slot + 1);
        Node node = expressions.build(function.function());
        return function.variable().isCaptured()
                ? new AssignmentNodes.NewFunctionCell(slot, node)
                : new AssignmentNodes.SetLocal(slot, node);
    }

    private StatementNode assignment(Statement.Assignment assignment) {
        List<Expression> targets = assignment.targets();
        if (targets.size() == 1 && assignment.values().size() == 1) {
            return assignOne(targets.getFirst(), assignment.values().getFirst(), assignment.line());
        }
        AssignmentNodes.Target[] nodes = new AssignmentNodes.Target[targets.size()];
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = target(targets.get(i), assignment.line());
        }
        int base = top;
        return new AssignmentNodes.AssignAll(nodes, values(assignment.values(), base, nodes.length), base);
    }

    private StatementNode assignOne(Expression target, Expression value, int line) {
        return switch (target) {
            case Expression.Local local -> {
                Node node = expressions.build(value);
                int slot = local.variable().slot();
                yield local.variable().isCaptured()
                        ? new AssignmentNodes.SetCell(slot, node)
                        : new AssignmentNodes.SetLocal(slot, node);
            }
            case Expression.Upvalue upvalue ->
                new AssignmentNodes.SetUpvalue(upvalue.index(), expressions.build(value));
            case Expression.Global global -> {
                int base = reserve(2);
                Node name = new VariableNodes.Constant(global.name(), global.line());
                yield new AssignmentNodes.Effect(
                        new AssignmentNodes.SetIndex(null, name, expressions.build(value), base, line));
            }
            case Expression.Index index -> {
                int base = reserve(2);
                Node object = expressions.build(index.object());
                Node key = expressions.build(index.key());
                yield new AssignmentNodes.Effect(
                        new AssignmentNodes.SetIndex(object, key, expressions.build(value), base, line));
            }
            default -> throw new IllegalStateException("not a target: " + target);
        };
    }

    private AssignmentNodes.Target target(Expression target, int line) {
        return switch (target) {
            case Expression.Local local ->
                new AssignmentNodes.LocalTarget(local.variable().slot(), local.variable().isCaptured(), line);
            case Expression.Upvalue upvalue -> new AssignmentNodes.UpvalueTarget(upvalue.index(), line);
            case Expression.Global global -> new AssignmentNodes.IndexTarget(null,
                    new VariableNodes.Constant(global.name(), global.line()), reserve(2), line);
            case Expression.Index index -> {
                int base = reserve(2);
                yield new AssignmentNodes.IndexTarget(expressions.build(index.object()),
                        expressions.build(index.key()), base, line);
            }
            default -> throw new IllegalStateException("not a target: " + target);
        };
    }

    private StatementNode repeat(Statement.Repeat loop) {
        int outside = active;
        StatementNode body = statements(loop.body());
        top = active;
        Node condition = expressions.condition(loop.condition());
        activate(outside);
        return new BlockNodes.Repeat(body, condition);
    }

    private StatementNode ifStatement(Statement.If choice) {
        List<Statement.Clause> clauses = choice.clauses();
        Node[] conditions = new Node[clauses.size()];
        StatementNode[] bodies = new StatementNode[clauses.size()];
        for (int i = 0; i < conditions.length; i++) {
            conditions[i] = expressions.condition(clauses.get(i).condition());
            bodies[i] = block(clauses.get(i).body());
        }
        StatementNode otherwise = choice.otherwise() == null ? null : block(choice.otherwise());
        return conditions.length == 1
                ? new BlockNodes.If(conditions[0], bodies[0], otherwise)
                : new BlockNodes.IfElse(conditions, bodies, otherwise);
    }

    private StatementNode numericFor(Statement.NumericFor loop) {
        int outside = active;
        LocalVariable variable = loop.variable();
        reserve(4);
        Node first = expressions.build(loop.first());
        Node limit = expressions.build(loop.limit());
        Node step = loop.step() == null ? null : expressions.build(loop.step());
        activate(variable.slot() + 1);
        StatementNode body = block(loop.body());
        activate(outside);
        return new BlockNodes.NumericForStatement(new BlockNodes.NumericFor(variable.slot(), variable.isCaptured(),
                first, limit, step, body, loop.line()));
    }

    private StatementNode genericFor(Statement.GenericFor loop) {
        int outside = active;
        Node[] values = values(loop.values(), loop.base(), 3);
        reserve(Math.max(2, loop.variables().size()));
        activate(loop.base() + 3 + loop.variables().size());
        StatementNode body = block(loop.body());
        activate(outside);
        return new BlockNodes.GenericForStatement(new BlockNodes.GenericFor(loop.base(), cells(loop.variables()),
                values, body, loop.line()));
    }

    private StatementNode returnStatement(Statement.Return statement) {
        List<Expression> values = statement.values();
        if (values.size() == 1) {
            Node value = expressions.build(values.getFirst());
            if (value instanceof CallNodes.AnyCall call) {
                return new CallNodes.ReturnCall(call);
            }
            if (!value.isMulti()) {
                return new AssignmentNodes.ReturnOne(value);
            }
            return new AssignmentNodes.Return(new Node[] {value}, top);
        }
        int base = top;
        return new AssignmentNodes.Return(values(values, base, values.size()), base);
    }
}
