package io.varve.server.command.set;

import java.util.SplittableRandom;

import io.varve.memory.collection.SetTree;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.RandomRanks;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.Numbers;
import io.varve.server.resp.ReplyWriter;

/**
 * How a set that is a tree changes, and what OBJECT ENCODING tells of it, which the tree's flags remember: what a set of Redis would
 * be that has had the same members in the same order. Confined to its event loop; reused from command to command.
 *
 * @see PackedSetEdit for a set in one item
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

    /** Begins to change a tree that has got all members of a set of this encoding. */
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

    /** What a set would be that has only ever had the members that are there. */
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

    /** Replies and removes members, not all, picked at random. */
    void pop(ServerConfig config, ReplyWriter reply, long count, long seed) {
        long before = tree.size();
        RandomRanks.forEach(new SplittableRandom(seed), before, count, rank -> {
            tree.seek(rank);
            reply.bulk(tree.address(), tree.length());
        });
        // Only now that the reply is complete, because there may be no room for it.
        RandomRanks.forEach(new SplittableRandom(seed), before, count, rank -> {
            // What has gone in front of it does not stand there any more.
            tree.seek(rank - (before - tree.size()));
            tree.remove();
        });
        if (encoding == Encodings.SET_HASHTABLE && PackedSetEdit.isMadeAnew(tree.size(), count)) {
            encoding = measured(config);
            finish();
        }
    }
}
