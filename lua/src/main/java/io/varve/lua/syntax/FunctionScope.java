package io.varve.lua.syntax;

import java.util.ArrayList;
import java.util.List;

import io.varve.lua.LuaError;
import io.varve.lua.LuaString;
import io.varve.lua.syntax.FunctionBody.UpvalueSource;
import org.jspecify.annotations.Nullable;

/** The variables of a function that is being parsed. Confined to the parser. */
final class FunctionScope {
    private static final int MAX_VARIABLES = 200;
    private static final int MAX_UPVALUES = 60;
    final @Nullable FunctionScope outer;
    final int line;
    boolean varArgs;
    @Nullable
    LocalVariable argTable;
    boolean usesVarArgs;
    int loops;
    private final List<LocalVariable> active = new ArrayList<>();
    private final List<UpvalueSource> upvalues = new ArrayList<>();
    private int slots;

    FunctionScope(@Nullable FunctionScope outer, int line) {
        this.outer = outer;
        this.line = line;
    }

    int activeCount() {
        return active.size();
    }

    int slots() {
        return slots;
    }

    List<UpvalueSource> upvalues() {
        return List.copyOf(upvalues);
    }

    /** A variable that is not visible yet; a number of others that are not either precede it. */
    LocalVariable declare(LuaString name, int pending, Lexer lexer) {
        int slot = active.size() + pending;
        if (slot >= MAX_VARIABLES) {
            throw limit(MAX_VARIABLES, "local variables", lexer);
        }
        slots = Math.max(slots, slot + 1);
        return new LocalVariable(name, slot);
    }

    void activate(List<LocalVariable> variables) {
        active.addAll(variables);
    }

    void activate(LocalVariable variable) {
        active.add(variable);
    }

    /** Ends the scope of all variables but the first ones. */
    void leave(int count) {
        active.subList(count, active.size()).clear();
    }

    @Nullable
    LocalVariable find(LuaString name) {
        for (int i = active.size() - 1; i >= 0; i--) {
            if (active.get(i).name().equals(name)) {
                return active.get(i);
            }
        }
        return null;
    }

    /** The expression for a name: a local variable, an upvalue or a global. */
    Expression resolve(LuaString name, int nameLine, Lexer lexer) {
        LocalVariable local = find(name);
        if (local != null) {
            return new Expression.Local(local, nameLine);
        }
        int index = upvalue(name, lexer);
        return index < 0
                ? new Expression.Global(name, nameLine)
                : new Expression.Upvalue(upvalues.get(index).variable(), index, nameLine);
    }

    /** The index of an upvalue, which becomes one of all functions between; -1 if no outer function has the name. */
    private int upvalue(LuaString name, Lexer lexer) {
        if (outer == null) {
            return -1;
        }
        LocalVariable local = outer.find(name);
        UpvalueSource source;
        if (local != null) {
            local.capture();
            source = new UpvalueSource(local, true, local.slot());
        } else {
            int index = outer.upvalue(name, lexer);
            if (index < 0) {
                return -1;
            }
            source = new UpvalueSource(outer.upvalues.get(index).variable(), false, index);
        }
        int known = upvalues.indexOf(source);
        if (known >= 0) {
            return known;
        }
        if (upvalues.size() >= MAX_UPVALUES) {
            throw limit(MAX_UPVALUES, "upvalues", lexer);
        }
        upvalues.add(source);
        return upvalues.size() - 1;
    }

    LuaError limit(int limit, String what, Lexer lexer) {
        String where = line == 0 ? "main function" : "function at line " + line;
        return lexer.error(where + " has more than " + limit + " " + what, 0);
    }
}
