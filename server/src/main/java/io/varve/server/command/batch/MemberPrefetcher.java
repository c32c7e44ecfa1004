package io.varve.server.command.batch;

import io.varve.memory.collection.HashedTree;
import io.varve.memory.collection.MembersAhead;

/**
 * Prefetches the members of a large collection that a command, and those after it in a batch, will search: a client
 * that pipelines often sends the same command for the same key. The first of them prefetches for all. Immutable: static
 * methods only.
 */
public final class MemberPrefetcher {
    /** A search hashes its member again: for a longer one this costs more than the overlap of misses saves. */
    private static final int MAX_MEMBER_BYTES = 128;

    private MemberPrefetcher() {}

    /**
     * Prefetches the members of the command, and of those after it that have the same spec and key.
     *
     * @param tree the open collection of the command's key
     * @param first the argument of the first member
     * @param step the arguments from one member to the next
     */
    public static void prefetch(Batch batch, int command, HashedTree tree, int first, int step) {
        if (command > 0 && areSimilar(batch, command - 1, command)) {
            return;
        }
        int end = command + 1;
        while (end < batch.commandCount() && areSimilar(batch, command, end)) {
            end++;
        }
        if (end == command + 1 && batch.argumentCount(command) <= first + step) {
            return;
        }
        MembersAhead ahead = tree.ahead();
        boolean hasSpace = true;
        for (int i = command; i < end && hasSpace; i++) {
            int begin = batch.firstArgument(i);
            for (int member = first; member < batch.argumentCount(i) && hasSpace; member += step) {
                int length = batch.length(begin + member);
                hasSpace = length > MAX_MEMBER_BYTES || ahead.add(batch.address(begin + member), length);
            }
        }
        ahead.touch();
    }

    private static boolean areSimilar(Batch batch, int one, int other) {
        return batch.spec(one) == batch.spec(other) && batch.keyCount(one) == 1 && batch.keyCount(other) == 1
                && batch.key(batch.firstKey(one)).hash() == batch.key(batch.firstKey(other)).hash();
    }
}
