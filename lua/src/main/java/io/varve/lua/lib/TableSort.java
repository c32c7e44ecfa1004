package io.varve.lua.lib;

import io.varve.lua.Arguments;
import io.varve.lua.LuaState;
import io.varve.lua.LuaTable;

/**
 * The function {@code table.sort}: one call. Confined to the state's thread.
 * <p>
 * It compares and swaps in the order of C Lua's quicksort, because a comparison function of a script can see the order,
 * and one that is inconsistent decides the result.
 */
final class TableSort {
    private final LuaState lua;
    private final Arguments arguments;
    private final LuaTable table;
    /** Compares, or null for the operator. */
    private final Object comparison;

    private TableSort(LuaState lua, Arguments arguments, LuaTable table, Object comparison) {
        this.lua = lua;
        this.arguments = arguments;
        this.table = table;
        this.comparison = comparison;
    }

    static Object sort(LuaState lua, Arguments arguments) {
        LuaTable table = arguments.checkTable(1);
        int length = table.length();
        Object comparison = arguments.isNoneOrNil(2) ? null : arguments.checkFunction(2);
        int roots = lua.roots();
        try {
            new TableSort(lua, arguments, table, comparison).sort(1, length);
        } finally {
            lua.unroot(roots);
        }
        return lua.results();
    }

    private boolean isLess(Object a, Object b) {
        lua.tick();
        return comparison == null
                ? lua.lessThan(a, b)
                : LuaState.isTrue(LuaState.first(lua.call(comparison, a, b)));
    }

    /** Sorts a range; recurs only for its smaller part, so at most 31 deep. */
    private void sort(int from, int to) {
        int low = from;
        int high = to;
        while (low < high) {
            orderPair(low, high);
            if (high - low == 1) {
                return;
            }
            int middle = (low + high) / 2;
            if (!orderPair(low, middle)) {
                orderPair(middle, high);
            }
            if (high - low == 2) {
                return;
            }
            int split = partition(low, high, middle);
            if (split - low < high - split) {
                sort(low, split - 1);
                low = split + 1;
            } else {
                sort(split + 1, high);
                high = split - 1;
            }
        }
    }

    /** Swaps two items if the second one is less. */
    private boolean orderPair(int first, int second) {
        Object a = table.get(first);
        Object b = table.get(second);
        boolean swap = isLess(b, a);
        if (swap) {
            table.set(first, b);
            table.set(second, a);
        }
        return swap;
    }

    /** Moves what is less than the pivot before it and returns the pivot's index. */
    private int partition(int low, int high, int middle) {
        Object pivot = table.get(middle);
        table.set(middle, table.get(high - 1));
        table.set(high - 1, pivot);
        lua.root(pivot);
        int i = low;
        int j = high - 1;
        while (true) {
            Object a = table.get(++i);
            while (isLess(a, pivot)) {
                if (i > high) {
                    throw arguments.error("invalid order function for sorting");
                }
                a = table.get(++i);
            }
            Object b = table.get(--j);
            while (isLess(pivot, b)) {
                if (j < low) {
                    throw arguments.error("invalid order function for sorting");
                }
                b = table.get(--j);
            }
            if (j < i) {
                break;
            }
            table.set(i, b);
            table.set(j, a);
        }
        Object last = table.get(high - 1);
        table.set(high - 1, table.get(i));
        table.set(i, last);
        return i;
    }
}
