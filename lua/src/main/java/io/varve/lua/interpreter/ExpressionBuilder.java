package io.varve.lua.interpreter;

import java.util.ArrayList;
import java.util.List;

import io.varve.lua.LuaNumber;
import io.varve.lua.LuaString;
import io.varve.lua.Metamethods.Arithmetic;
import io.varve.lua.syntax.BinaryOperator;
import io.varve.lua.syntax.Expression;

/** Builds the nodes of expressions, and folds constants as C Lua does. Confined to its {@link FunctionBuilder}. */
final class ExpressionBuilder {
    private static final int CALL_BYTES = 550;
    private static final int CONCAT_BYTES = 350;
    private static final int OPERATOR_BYTES = 220;
    private final FunctionBuilder function;

    ExpressionBuilder(FunctionBuilder function) {
        this.function = function;
    }

    /** Builds an expression whose value is used as it is. */
    Node build(Expression expression) {
        return used(operand(expression));
    }

    /** Builds a condition: a number in its place is true, and never used. */
    Node condition(Expression expression) {
        return operand(expression);
    }

    /** Builds an operand, which an operator may still fold. */
    private Node operand(Expression expression) {
        int bytes = stackBytes(expression);
        function.enter(bytes);
        Node node = buildAny(expression);
        function.leave(bytes);
        return node;
    }

    /**
     * A node whose value is used, not only tested. In C Lua, 0 and -0 of a function are one constant: the first that is
     * used.
     */
    private Node used(Node node) {
        return switch (node) {
            case VariableNodes.NumberConstant number when number.value == 0 ->
                new VariableNodes.NumberConstant(function.zero(number.value), node.line);
            case ComparisonNodes.And and -> new ComparisonNodes.And(and.left, used(and.right), node.line);
            case ComparisonNodes.Or or -> new ComparisonNodes.Or(or.left, used(or.right), node.line);
            default -> node;
        };
    }

    /** Stack bytes of a node while its operands are evaluated by the JVM's interpreter, which needs most. */
    private static int stackBytes(Expression expression) {
        return switch (expression) {
            case Expression.Call ignored -> CALL_BYTES;
            case Expression.MethodCall ignored -> CALL_BYTES;
            case Expression.Binary binary when binary.operator() == BinaryOperator.CONCAT -> CONCAT_BYTES;
            default -> OPERATOR_BYTES;
        };
    }

    private Node buildAny(Expression expression) {
        int line = expression.line();
        return switch (expression) {
            case Expression.Constant constant -> constant(constant.value(), line);
            case Expression.VarArgs ignored -> new VariableNodes.VarArgs(line);
            case Expression.Function inner -> new VariableNodes.Function(function.inner(inner.body()), line);
            case Expression.Local local -> {
                int slot = local.variable().slot();
                LuaString name = local.variable().name();
                yield local.variable().isCaptured()
                        ? new VariableNodes.CellLocal(slot, name, line)
                        : new VariableNodes.Local(slot, name, line);
            }
            case Expression.Upvalue upvalue ->
                new VariableNodes.Upvalue(upvalue.index(), upvalue.variable().name(), line);
            case Expression.Global global -> new VariableNodes.Global(global.name(), line);
            case Expression.Index index -> index(index);
            case Expression.Call call -> call(call);
            case Expression.MethodCall call -> methodCall(call);
            case Expression.Unary unary -> unary(unary);
            case Expression.Binary binary -> binary(binary);
            case Expression.Parenthesized parenthesized -> {
                Node inner = operand(parenthesized.inner());
                yield inner.isMulti() ? new VariableNodes.First(inner, inner.line) : inner;
            }
            case Expression.TableConstructor table -> table(table);
        };
    }

    private static Node constant(Object value, int line) {
        return value instanceof Double number
                ? new VariableNodes.NumberConstant(number, line)
                : new VariableNodes.Constant(value, line);
    }

    private Node index(Expression.Index index) {
        Node object = build(index.object());
        int temporary = function.reserve(1);
        Node key = build(index.key());
        function.release(temporary);
        if (key instanceof VariableNodes.Constant constant && constant.value instanceof LuaString name) {
            return new IndexNodes.Field(object, name, index.line());
        }
        return new IndexNodes.Index(object, key, temporary, index.line());
    }

    // ---- calls ------------------------------------------------------------------------------------------------------

    private Node call(Expression.Call call) {
        int base = function.reserve(1);
        Node callee = build(call.function());
        Node[] arguments = arguments(call.arguments());
        function.release(base);
        return new CallNodes.Call(callee, base, arguments, call.line());
    }

    private Node methodCall(Expression.MethodCall call) {
        int base = function.reserve(2);
        Node object = build(call.object());
        Node[] arguments = arguments(call.arguments());
        function.release(base);
        return new CallNodes.MethodCall(object, call.name(), base, arguments, call.line(), call.line());
    }

    private Node[] arguments(List<Expression> arguments) {
        Node[] nodes = new Node[arguments.size()];
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = build(arguments.get(i));
            function.reserve(1);
        }
        return nodes;
    }

    private Node table(Expression.TableConstructor table) {
        List<Expression.Field> fields = table.fields();
        Node[] keys = new Node[fields.size()];
        Node[] values = new Node[fields.size()];
        int base = function.reserve(1);
        int waiting = 0;
        for (int i = 0; i < keys.length; i++) {
            Expression.Field field = fields.get(i);
            if (field.key() != null) {
                int temporary = function.reserve(1);
                keys[i] = build(field.key());
                values[i] = build(field.value());
                function.release(temporary);
            } else {
                if (waiting == TableNode.GROUP) {
                    function.release(base + 1);
                    waiting = 0;
                }
                values[i] = build(field.value());
                function.reserve(1);
                waiting++;
            }
        }
        function.release(base);
        return new TableNode(keys, values, base, table.line());
    }

    // ---- operators --------------------------------------------------------------------------------------------------

    private Node unary(Expression.Unary unary) {
        Node operand = operand(unary.operand());
        int line = unary.line();
        return switch (unary.operator()) {
            case NEGATE -> operand instanceof VariableNodes.NumberConstant number
                    ? new VariableNodes.NumberConstant(LuaNumber.box(-number.value), line)
                    : new ArithmeticNodes.Negate(used(operand), line);
            case NOT -> operand instanceof VariableNodes.NumberConstant
                    ? new VariableNodes.Constant(false, line)
                    : new ComparisonNodes.Not(operand, line);
            case LENGTH -> new ArithmeticNodes.Length(used(operand), line);
        };
    }

    private Node binary(Expression.Binary binary) {
        if (binary.operator() == BinaryOperator.CONCAT) {
            return concat(binary);
        }
        int line = binary.line();
        Arithmetic arithmetic = arithmetic(binary.operator());
        if (arithmetic != null) {
            return arithmetic(arithmetic, binary);
        }
        // A number on the left of "and" is never used. On the right, it is used if the whole expression is.
        boolean isAnd = binary.operator() == BinaryOperator.AND;
        boolean isLogical = isAnd || binary.operator() == BinaryOperator.OR;
        Node left = isAnd ? operand(binary.left()) : build(binary.left());
        int temporary = function.reserve(1);
        Node right = isLogical ? operand(binary.right()) : build(binary.right());
        function.release(temporary);
        return switch (binary.operator()) {
            case EQUAL -> equal(left, right, temporary, true, line);
            case NOT_EQUAL -> equal(left, right, temporary, false, line);
            case LESS -> new ComparisonNodes.Less(left, right, temporary, false, line);
            case GREATER -> new ComparisonNodes.Less(left, right, temporary, true, line);
            case LESS_EQUAL -> new ComparisonNodes.LessEqual(left, right, temporary, false, line);
            case GREATER_EQUAL -> new ComparisonNodes.LessEqual(left, right, temporary, true, line);
            case AND -> new ComparisonNodes.And(left, right, line);
            case OR -> new ComparisonNodes.Or(left, right, line);
            default -> throw new IllegalStateException(binary.operator() + " was handled before");
        };
    }

    private static Arithmetic arithmetic(BinaryOperator operator) {
        return switch (operator) {
            case ADD -> Arithmetic.ADD;
            case SUBTRACT -> Arithmetic.SUBTRACT;
            case MULTIPLY -> Arithmetic.MULTIPLY;
            case DIVIDE -> Arithmetic.DIVIDE;
            case MODULO -> Arithmetic.MODULO;
            case POWER -> Arithmetic.POWER;
            default -> null;
        };
    }

    /** The result of an operator on two numbers of the text; null if it has to be computed when it is used. */
    private static Node fold(Arithmetic kind, Node left, Node right, int line) {
        if (!(left instanceof VariableNodes.NumberConstant a)
                || !(right instanceof VariableNodes.NumberConstant b)) {
            return null;
        }
        boolean division = kind == Arithmetic.DIVIDE || kind == Arithmetic.MODULO;
        double folded = kind.apply(a.value, b.value);
        return division && b.value == 0 || Double.isNaN(folded)
                ? null
                : new VariableNodes.NumberConstant(LuaNumber.box(folded), line);
    }

    private Node arithmetic(Arithmetic kind, Expression.Binary binary) {
        Node left = operand(binary.left());
        if (!(left instanceof VariableNodes.NumberConstant)) {
            left = used(left);
        }
        int temporary = function.reserve(1);
        Node right = operand(binary.right());
        function.release(temporary);
        Node folded = fold(kind, left, right, binary.line());
        if (folded != null) {
            return folded;
        }
        // C Lua uses a number on the right before one on the left.
        right = used(right);
        left = used(left);
        int line = binary.line();
        return switch (kind) {
            case ADD -> new ArithmeticNodes.Add(left, right, temporary, line);
            case SUBTRACT -> new ArithmeticNodes.Subtract(left, right, temporary, line);
            case MULTIPLY -> new ArithmeticNodes.Multiply(left, right, temporary, line);
            case DIVIDE -> new ArithmeticNodes.Divide(left, right, temporary, line);
            case MODULO -> new ArithmeticNodes.Modulo(left, right, temporary, line);
            case POWER -> new ArithmeticNodes.Power(left, right, temporary, line);
        };
    }

    private static Node equal(Node left, Node right, int temporary, boolean wanted, int line) {
        if (right instanceof VariableNodes.NumberConstant number) {
            return new ComparisonNodes.EqualNumber(left, number.value, wanted, line);
        }
        if (right instanceof VariableNodes.Constant constant) {
            return new ComparisonNodes.EqualConstant(left, constant.value, wanted, line);
        }
        if (left instanceof VariableNodes.NumberConstant number) {
            return new ComparisonNodes.EqualNumber(right, number.value, wanted, line);
        }
        if (left instanceof VariableNodes.Constant constant) {
            return new ComparisonNodes.EqualConstant(right, constant.value, wanted, line);
        }
        return new ComparisonNodes.Equal(left, right, temporary, wanted, line);
    }

    private Node concat(Expression.Binary first) {
        List<Node> operands = new ArrayList<>();
        int base = function.reserve(1);
        Expression rest = first;
        int line = first.line();
        while (rest instanceof Expression.Binary binary && binary.operator() == BinaryOperator.CONCAT) {
            operands.add(build(binary.left()));
            function.reserve(1);
            line = binary.line();
            rest = binary.right();
        }
        operands.add(build(rest));
        function.release(base);
        return new ConcatNode(operands.toArray(Node[]::new), base, line);
    }
}
