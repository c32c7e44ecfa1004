package io.varve.server.command.hash;

import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;
import io.varve.server.command.Errors;

/**
 * Removes the fields in the arguments, and replies their values if wanted. Confined to its event loop; reused from
 * command to command.
 */
final class FieldRemoval implements HashValue.Departure {
    private static final CommandScratch<FieldRemoval> SCRATCH = CommandScratch.madeBy(FieldRemoval::new);

    private final CommandContext context;
    private final HashValue hash;
    private int first;
    private int step;
    private boolean replies;

    private FieldRemoval(CommandContext context) {
        this.context = context;
        hash = HashValue.of(context);
    }

    /** The instance of a context. It changes the hash that {@link HashValue#of} has opened. */
    static FieldRemoval of(CommandContext context) {
        return SCRATCH.of(context);
    }

    /** Removes the fields of pairs of a field and a value, from argument {@code from} on; returns how many existed. */
    long removePairs(int from) {
        first = from;
        step = 2;
        replies = false;
        return hash.removeArguments(from, this);
    }

    /**
     * Replies the values and removes their fields, one after the other: a repeated field is missing the second time.
     * The whole reply has its memory before the first field is removed.
     *
     * @return the number of removed fields
     */
    long replyAndRemove(int from) {
        first = from;
        step = 1;
        replies = true;
        int fields = context.argumentCount() - from;
        long bytes = 0;
        for (int i = from; i < context.argumentCount(); i++) {
            bytes += hash.findArgument(i) ? hash.valueLength() : 0;
        }
        if (!context.reply().reserveBulks(fields, bytes)) {
            context.reply().error(Errors.OUT_OF_MEMORY);
            return 0;
        }
        context.reply().array(fields);
        return hash.removeArguments(from, this);
    }

    @Override
    public boolean shouldRemove(int argument, boolean there) {
        if (replies) {
            hash.replyValueOrNil(context.reply(), there);
        }
        return there && (argument - first) % step == 0;
    }
}
