package io.varve.server.script;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

import io.varve.lua.LuaString;
import io.varve.lua.syntax.Block;
import io.varve.lua.syntax.Expression;
import io.varve.lua.syntax.FunctionBody;
import io.varve.lua.syntax.LocalVariable;
import io.varve.lua.syntax.Statement;
import io.varve.lua.syntax.UnaryOperator;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a script uses keys that it does not declare. Confined to the thread that compiles the script.
 *
 * <p>The answer is yes unless each command that the script calls is named by a constant, and each of its keys is an
 * element of KEYS, or a local variable with such a value. A script that does anything else with KEYS or with
 * {@code redis.call} may use any key. It then runs with all shards locked: that is always right, but keeps other event
 * loops waiting.
 */
final class KeyUse {
    private static final Set<String> TABLES = Set.of("redis", "server");
    private static final Set<String> CALLS = Set.of("call", "pcall");
    private static final Set<String> USE_OTHER_DATABASES = Set.of("select", "move", "copy");
    private static final Set<String> READERS_OF_KEYS = Set.of("ipairs", "unpack", "pairs", "next", "type");
    /** They reach globals, or compile programs, that the analysis does not see. */
    private static final Set<String> UNSEEN = Set.of("_G", "load", "loadstring", "getfenv", "setfenv");

    private final Function<String, @Nullable CommandSpec> commands;
    private final Map<LocalVariable, Meaning> variables = new IdentityHashMap<>();
    private boolean isDeclared = true;

    /** The constant content of a local variable. */
    private enum Meaning {
        KEY, CALL
    }

    private KeyUse(Function<String, @Nullable CommandSpec> commands) {
        this.commands = commands;
    }

    /**
     * Whether each command that the program calls names its keys by elements of KEYS.
     *
     * @param commands finds a command by its lower-case name
     */
    static boolean isDeclared(FunctionBody program, Function<String, @Nullable CommandSpec> commands) {
        KeyUse use = new KeyUse(commands);
        use.visit(program);
        return use.isDeclared;
    }

    // --- statements

    private void visit(FunctionBody body) {
        visit(body.body());
    }

    private void visit(Block block) {
        for (Statement statement : block.statements()) {
            if (isDeclared) {
                visit(statement);
            }
        }
    }

    private void visit(Statement statement) {
        switch (statement) {
            case Statement.LocalDeclaration local -> visit(local);
            case Statement.LocalFunction local -> visit(local.function());
            case Statement.Assignment assignment -> {
                assignment.targets().forEach(this::visitTarget);
                visit(assignment.values());
            }
            case Statement.CallStatement call -> visit(call.call());
            case Statement.Do nested -> visit(nested.body());
            case Statement.While loop -> {
                visit(loop.condition());
                visit(loop.body());
            }
            case Statement.Repeat loop -> {
                visit(loop.body());
                visit(loop.condition());
            }
            case Statement.If choice -> {
                for (Statement.Clause clause : choice.clauses()) {
                    visit(clause.condition());
                    visit(clause.body());
                }
                if (choice.otherwise() != null) {
                    visit(choice.otherwise());
                }
            }
            case Statement.NumericFor loop -> {
                visit(loop.first());
                visit(loop.limit());
                if (loop.step() != null) {
                    visit(loop.step());
                }
                visit(loop.body());
            }
            case Statement.GenericFor loop -> visit(loop);
            case Statement.Return result -> visit(result.values());
            case Statement.Break _ -> {
            }
        }
    }

    private void visit(Statement.LocalDeclaration local) {
        for (int i = 0; i < local.values().size(); i++) {
            Expression value = local.values().get(i);
            Meaning meaning = i < local.variables().size() && !local.variables().get(i).isAssigned()
                    ? meaning(value)
                    : null;
            if (meaning == null) {
                visit(value);
            } else {
                variables.put(local.variables().get(i), meaning);
                visitParts(value);
            }
        }
    }

    private void visit(Statement.GenericFor loop) {
        visit(loop.values());
        boolean overKeys = loop.values().size() == 1 && loop.values().get(0) instanceof Expression.Call call
                && call.function() instanceof Expression.Global function && isNamed(function, "ipairs")
                && call.arguments().size() == 1 && isKeys(call.arguments().get(0));
        if (overKeys && loop.variables().size() > 1 && !loop.variables().get(1).isAssigned()) {
            variables.put(loop.variables().get(1), Meaning.KEY);
        }
        visit(loop.body());
    }

    private void visitTarget(Expression target) {
        switch (target) {
            case Expression.Global _ -> isDeclared = false;
            case Expression.Index index -> {
                if (isKeys(index.object())) {
                    isDeclared = false;
                } else {
                    visit(index.object());
                    visit(index.key());
                }
            }
            default -> {
            }
        }
    }

    // --- expressions

    private void visit(List<Expression> expressions) {
        expressions.forEach(this::visit);
    }

    private void visit(Expression expression) {
        switch (expression) {
            case Expression.Global global -> visit(global);
            case Expression.Call call -> visit(call);
            case Expression.Index index -> {
                if (isCallFunction(index)) {
                    // Not called at once: it may be called with anything.
                    isDeclared = false;
                } else {
                    visitParts(index);
                }
            }
            case Expression.Local local -> visit(local.variable());
            case Expression.Upvalue upvalue -> visit(upvalue.variable());
            case Expression.Function function -> visit(function.body());
            case Expression.MethodCall call -> {
                visit(call.object());
                visit(call.arguments());
            }
            case Expression.Unary unary -> {
                if (unary.operator() != UnaryOperator.LENGTH || !isKeys(unary.operand())) {
                    visit(unary.operand());
                }
            }
            case Expression.Binary binary -> {
                visit(binary.left());
                visit(binary.right());
            }
            case Expression.Parenthesized inner -> visit(inner.inner());
            case Expression.TableConstructor table -> {
                for (Expression.Field field : table.fields()) {
                    if (field.key() != null) {
                        visit(field.key());
                    }
                    visit(field.value());
                }
            }
            case Expression.Constant _,Expression.VarArgs _ -> {
            }
        }
    }

    private void visit(LocalVariable variable) {
        if (variables.get(variable) == Meaning.CALL) {
            isDeclared = false;
        }
    }

    private void visit(Expression.Global global) {
        String name = global.name().toString();
        if (name.equals("KEYS") || TABLES.contains(name) || UNSEEN.contains(name)) {
            isDeclared = false;
        }
    }

    /** Visits what an element of KEYS, or of another table, consists of. */
    private void visitParts(Expression expression) {
        if (expression instanceof Expression.Index index) {
            if (!isKeys(index.object()) && !isRedis(index.object())) {
                visit(index.object());
            }
            visit(index.key());
            if (isRedis(index.object()) && !(index.key() instanceof Expression.Constant)) {
                isDeclared = false;
            }
        } else if (expression instanceof Expression.Parenthesized inner) {
            visitParts(inner.inner());
        }
    }

    private void visit(Expression.Call call) {
        if (isCommand(call.function())) {
            isDeclared &= namesItsKeys(call.arguments());
            call.arguments().forEach(this::visitArgument);
            return;
        }
        if (call.function() instanceof Expression.Global function
                && READERS_OF_KEYS.contains(function.name().toString()) && !call.arguments().isEmpty()
                && isKeys(call.arguments().get(0))) {
            visit(call.arguments().subList(1, call.arguments().size()));
            return;
        }
        visit(call.function());
        visit(call.arguments());
    }

    private void visitArgument(Expression argument) {
        visit(argument);
    }

    // --- what an expression is

    private static boolean isNamed(Expression.Global global, String name) {
        return global.name().toString().equals(name);
    }

    private static boolean isKeys(Expression expression) {
        return expression instanceof Expression.Global global && isNamed(global, "KEYS");
    }

    private static boolean isRedis(Expression expression) {
        return expression instanceof Expression.Global global && TABLES.contains(global.name().toString());
    }

    private static boolean isCallFunction(Expression expression) {
        return expression instanceof Expression.Index index && isRedis(index.object())
                && index.key() instanceof Expression.Constant name && name.value() instanceof LuaString text
                && CALLS.contains(text.toString());
    }

    /** Whether calling the expression calls a command. */
    private boolean isCommand(Expression function) {
        return switch (function) {
            case Expression.Local local -> variables.get(local.variable()) == Meaning.CALL;
            case Expression.Upvalue upvalue -> variables.get(upvalue.variable()) == Meaning.CALL;
            default -> isCallFunction(function);
        };
    }

    private @Nullable Meaning meaning(Expression value) {
        return isCallFunction(value) ? Meaning.CALL : isKey(value) ? Meaning.KEY : null;
    }

    private boolean isKey(Expression value) {
        return switch (value) {
            case Expression.Index index -> isKeys(index.object());
            case Expression.Local local -> variables.get(local.variable()) == Meaning.KEY;
            case Expression.Upvalue upvalue -> variables.get(upvalue.variable()) == Meaning.KEY;
            case Expression.Parenthesized inner -> isKey(inner.inner());
            default -> false;
        };
    }

    private boolean namesItsKeys(List<Expression> arguments) {
        if (arguments.isEmpty() || !(arguments.get(0) instanceof Expression.Constant name)
                || !(name.value() instanceof LuaString text)) {
            return false;
        }
        CommandSpec spec = commands.apply(text.toString().toLowerCase(Locale.ROOT));
        // A key of another database has not been fetched from flash before.
        if (spec == null || USE_OTHER_DATABASES.contains(spec.fullName()) || spec.hasSubcommands()
                || spec.otherKeys() != null || spec.keyFinder() != null) {
            return false;
        }
        if (!spec.namesKeys()) {
            return !spec.worksOnKeys() || spec.has(CommandTrait.USES_NOTHING);
        }
        Expression last = arguments.get(arguments.size() - 1);
        boolean isOpen = last instanceof Expression.Call || last instanceof Expression.MethodCall
                || last instanceof Expression.VarArgs;
        // The arguments that the values of an open last expression do not change.
        int fixed = isOpen ? arguments.size() - 1 : arguments.size();
        int end = spec.lastKey() >= 0 ? spec.lastKey() + 1 : arguments.size() + spec.lastKey() + 1;
        for (int i = spec.firstKey(); i < Math.min(end, fixed); i += spec.keyStep()) {
            if (!isKey(arguments.get(i))) {
                return false;
            }
        }
        return !isOpen || spec.lastKey() >= 0 && spec.lastKey() < fixed
                || spec.lastKey() == -1 && spec.keyStep() == 1 && fixed >= spec.firstKey() && isAllKeys(last);
    }

    /** Whether all values of an expression are keys. */
    private static boolean isAllKeys(Expression open) {
        return open instanceof Expression.Call call && call.function() instanceof Expression.Global function
                && isNamed(function, "unpack") && !call.arguments().isEmpty() && isKeys(call.arguments().get(0));
    }
}
