package io.varve.server.command;

/** The arguments of a command in a batch. Immutable; valid as long as they are there. */
public record BatchArguments(Batch batch, int command) implements Arguments {
    @Override
    public int argumentCount() {
        return batch.argumentCount(command);
    }

    @Override
    public long argumentAddress(int index) {
        return batch.address(batch.firstArgument(command) + index);
    }

    @Override
    public int argumentLength(int index) {
        return batch.length(batch.firstArgument(command) + index);
    }
}
