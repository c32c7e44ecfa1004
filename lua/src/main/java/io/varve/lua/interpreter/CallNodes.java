package io.varve.lua.interpreter;

import io.varve.lua.LuaFunction;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.Metamethods;
import io.varve.lua.Results;

/** Calls. Stateless. The function and its arguments are in consecutive registers while arguments are evaluated. */
final class CallNodes {
    private CallNodes() {}

    /** The part that all calls share. */
    abstract static class AnyCall extends Node {
        /** The register of the function; the arguments follow. */
        final int base;
        final Node[] arguments;
        private final boolean open;

        AnyCall(int base, Node[] arguments, int line) {
            super(line);
            this.base = base;
            this.arguments = arguments;
            open = arguments.length > 0 && arguments[arguments.length - 1].isMulti();
        }

        /** Evaluates the function, and for a method the object, which becomes the first argument. */
        abstract Object prepare(Frame frame);

        /** Arguments before those of the source: 1 for a method. */
        abstract int implicit();

        /** Evaluates function and arguments, which become the outgoing ones. */
        final Object prepareAll(Frame frame) {
            Object function = prepare(frame);
            Object[] registers = frame.registers;
            int first = base + 1 + implicit();
            int last = open ? arguments.length - 1 : arguments.length;
            for (int i = 0; i < last; i++) {
                registers[first + i] = arguments[i].eval(frame);
            }
            if (open) {
                prepareOpen(frame, first + last - base - 1);
            } else {
                frame.outgoing(this, base + 1, first + last - base - 1);
            }
            return function;
        }

        private void prepareOpen(Frame frame, int fixed) {
            Object more = arguments[arguments.length - 1].evalMulti(frame);
            if (more instanceof Results several) {
                Object[] all = new Object[fixed + several.count()];
                System.arraycopy(frame.registers, base + 1, all, 0, fixed);
                several.copyTo(all, fixed);
                frame.outgoing(this, all);
            } else {
                frame.registers[base + 1 + fixed] = more;
                frame.outgoing(this, base + 1, fixed + 1);
            }
        }

        @Override
        final Object evalMulti(Frame frame) {
            Object function = prepareAll(frame);
            Object result = function instanceof LuaFunction callable
                    ? callable.call(frame.lua, frame)
                    : Metamethods.callOther(frame.lua, function, frame, 0);
            if (open) {
                frame.resetOutgoing();
            }
            return result;
        }

        @Override
        final Object eval(Frame frame) {
            Object returned = evalMulti(frame);
            return returned instanceof Results ? LuaState.first(returned) : returned;
        }

        @Override
        final boolean isMulti() {
            return true;
        }

        boolean isOpen() {
            return open;
        }
    }

    /** {@code function(arguments)}. */
    static final class Call extends AnyCall {
        private final Node function;

        Call(Node function, int base, Node[] arguments, int line) {
            super(base, arguments, line);
            this.function = function;
        }

        @Override
        Object prepare(Frame frame) {
            Object value = function.eval(frame);
            frame.registers[base] = value;
            return value;
        }

        @Override
        int implicit() {
            return 0;
        }

        @Override
        String operandDescription(int operand) {
            return function.description();
        }

        @Override
        String calledName() {
            return function.calledName();
        }
    }

    /** {@code object:name(arguments)}. */
    static final class MethodCall extends AnyCall {
        private final Lookup lookup;

        MethodCall(Node object, LuaString name, int base, Node[] arguments, int nameLine, int line) {
            super(base, arguments, line);
            lookup = new Lookup(object, name, nameLine);
        }

        @Override
        Object prepare(Frame frame) {
            Object self = lookup.object.eval(frame);
            frame.registers[base + 1] = self;
            Object value = lookup.find(frame, self);
            frame.registers[base] = value;
            return value;
        }

        @Override
        int implicit() {
            return 1;
        }

        @Override
        String operandDescription(int operand) {
            return "method '" + lookup.name + "'";
        }

        @Override
        String calledName() {
            return lookup.name.toString();
        }

        @Override
        boolean isMethodCall() {
            return true;
        }
    }

    /** Finds a method; it stands in messages for the access to the object. */
    private static final class Lookup extends Node {
        final Node object;
        final LuaString name;

        Lookup(Node object, LuaString name, int line) {
            super(line);
            this.object = object;
            this.name = name;
        }

        Object find(Frame frame, Object self) {
            if (self instanceof LuaTable table) {
                Object value = table.get(name);
                if (value != null || table.metatable() == null) {
                    return value;
                }
            }
            return Metamethods.index(frame.lua, self, name, frame.at(this));
        }

        @Override
        Object eval(Frame frame) {
            return find(frame, object.eval(frame));
        }

        @Override
        String operandDescription(int operand) {
            return object.description();
        }
    }

    /** A call as a statement. */
    static final class CallStatement extends StatementNode {
        private final Node call;

        CallStatement(Node call) {
            this.call = call;
        }

        @Override
        int execute(Frame frame) {
            call.evalMulti(frame);
            return NORMAL;
        }
    }

    /** {@code return f(arguments)}: a compiled function takes the place of this one. */
    static final class ReturnCall extends StatementNode {
        private final AnyCall call;

        ReturnCall(AnyCall call) {
            this.call = call;
        }

        @Override
        int execute(Frame frame) {
            Object function = call.prepareAll(frame);
            if (function instanceof LuaClosure closure) {
                frame.tailCallee = closure;
                return RETURN;
            }
            frame.result = function instanceof LuaFunction callable
                    ? callable.call(frame.lua, frame)
                    : Metamethods.callOther(frame.lua, function, frame, 0);
            if (call.isOpen()) {
                frame.resetOutgoing();
            }
            return RETURN;
        }
    }
}
