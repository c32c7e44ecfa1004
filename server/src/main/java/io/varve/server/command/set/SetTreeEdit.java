package io.varve.server.command.set;

import java.util.SplittableRandom;

import io.varve.memory.collection.SetTree;
import io.varve.server.command.CommandContext;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.RandomRanks;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.Numbers;
import io.varve.server.resp.ReplyWriter;

/**
 * Changes a set that is a tree. Confined to its event loop; reused from command to command. The tree's flags store the
 * encoding for OBJECT ENCODING: that of a Redis set after the same members in the same order.
 *
 * @see PackedSetEdit for a packed set
 */
final class SetTreeEdit {
    private final SetTree tree;
    private final SetMeasure measure = new SetMeasure();
    private int encoding;

    SetTreeEdit(SetTree tree) {
        this.tree = tree;
    }

    /** Begins to change a tree. */
    void open() {
        encoding = tree.flags();
    }

    /** Begins to change a tree that holds all members of a set of this encoding. */
    void open(int encodingSoFar) {
        encoding = encodingSoFar;
    }

    /** Adds a member; false if the set has it. */
    boolean add(ServerConfig config, long address, int length) {
        if (!tree.add(address, length)) {
            return false;
        }
        if (encoding == Encodings.SET_INTEGERS && !Numbers.isLong(address, length)) {
            encoding = measured(config);
        } else if (encoding == Encodings.SET_INTEGERS
                ? tree.size() > config.setMaxIntsetEntries()
                : tree.size() > config.setMaxListpackEntries() || length > config.setMaxListpackValueBytes()) {
            encoding = Encodings.SET_HASHTABLE;
        }
        return true;
    }

    /** The encoding of a set that has only ever had the present members. */
    private int measured(ServerConfig config) {
        if (SetMeasure.isBeyond(config, tree.size())) {
            return Encodings.SET_HASHTABLE;
        }
        measure.clear();
        for (boolean more = tree.first(); more; more = tree.next()) {
            measure.add(tree.address(), tree.length());
        }
        return measure.encoding(config);
    }

    /** Ends additions. */
    void finish() {
        if (tree.flags() != encoding) {
            tree.flags(encoding);
        }
    }

    /** Replies and removes random members, but not all, and adds them to the record of the command. */
    void pop(CommandContext context, ReplyWriter reply, long count, long seed) {
        boolean isRecording = context.isRecording();
        long before = tree.size();
        RandomRanks.forEach(new SplittableRandom(seed), before, count, rank -> {
            tree.seek(rank);
            reply.bulk(tree.address(), tree.length());
            if (isRecording) {
                context.recordArgument(tree.address(), tree.length());
            }
        });
        // Only after the complete reply, because the reply may run out of memory.
        RandomRanks.forEach(new SplittableRandom(seed), before, count, rank -> {
            // Earlier removals have lowered this rank.
            tree.seek(rank - (before - tree.size()));
            tree.remove();
        });
        if (encoding == Encodings.SET_HASHTABLE && PackedSetEdit.isRebuilt(tree.size(), count)) {
            encoding = measured(context.server().config());
            finish();
        }
    }
}
