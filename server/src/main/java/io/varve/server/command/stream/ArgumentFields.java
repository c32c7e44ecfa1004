package io.varve.server.command.stream;

import io.varve.memory.collection.stream.StreamFields;
import io.varve.server.command.CommandContext;
import org.jspecify.annotations.Nullable;

/** The fields and values at the end of a command's arguments. Confined to its event loop; reused. */
final class ArgumentFields implements StreamFields {
    private @Nullable CommandContext context;
    private int first;
    private int count;

    /** @param firstField the argument with the first field */
    ArgumentFields of(CommandContext command, int firstField) {
        context = command;
        first = firstField;
        count = (command.argumentCount() - firstField) / 2;
        return this;
    }

    private CommandContext call() {
        return java.util.Objects.requireNonNull(context);
    }

    @Override
    public int count() {
        return count;
    }

    @Override
    public long fieldAddress(int index) {
        return call().argumentAddress(first + 2 * index);
    }

    @Override
    public int fieldLength(int index) {
        return call().argumentLength(first + 2 * index);
    }

    @Override
    public long valueAddress(int index) {
        return call().argumentAddress(first + 2 * index + 1);
    }

    @Override
    public int valueLength(int index) {
        return call().argumentLength(first + 2 * index + 1);
    }
}
