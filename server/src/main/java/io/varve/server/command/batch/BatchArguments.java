package io.varve.server.command.batch;

import io.varve.server.command.spec.Arguments;

/**
 * The arguments of one command in a batch. Immutable; valid until the batch drops the command.
 *
 * @param command the command's index in the batch
 */
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
