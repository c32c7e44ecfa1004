package io.varve.server.command.set;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.tree.TreeFiller;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.text.NumberText;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.SelectionSampler;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * A set value in any layout: the reads of {@link SetView}, and changes. Confined to its event loop; reused from command
 * to command, and valid while the shard of its key is locked.
 *
 * <p>A change requires a set that was opened for writing, and invalidates the cursor. An addition fails with a
 * {@link io.varve.memory.item.CacheFullException} before any change. Removing the last member deletes the key.
 *
 * <p>A packed set that would exceed {@code packed-max-entries} or {@code packed-max-bytes} becomes a tree for good;
 * integers stay packed up to {@code set-max-intset-entries}.
 */
public final class SetValue extends SetView {
    private final PackedSetEdit edit;
    private final SetTreeEdit treeEdit = new SetTreeEdit(tree);
    private final Item item = new Item();
    private @Nullable CommandContext context;
    private @Nullable Key key;

    /** The writes to a tree. A tree under construction gets the packed members first, then the write. */
    private final Runnable addOne = this::addOneToTree;
    private final Runnable addArguments = this::addArgumentsToTree;
    private final TreeFiller fill = this::fillTree;
    private Runnable write = addOne;
    private int argument;
    private long added;
    private int addedLength;

    /** @param text memory for the text of an integer member */
    SetValue(NumberText text) {
        super(text);
        edit = new PackedSetEdit(text);
    }

    // --- open

    /** Opens a key for reading; replies the error if it has another type. */
    public Found open(CommandContext command, Key at) {
        return opened(command, at, KeyLookup.find(command, at, item, ItemType.SET));
    }

    /** Opens a key for writing; replies the error if it has another type. */
    Found openForWriting(CommandContext command, Key at) {
        return opened(command, at, KeyLookup.findForWriting(command, at, item, ItemType.SET));
    }

    /** Opens a key to search for the members in the arguments from 2 on; replies the error if it has another type. */
    Found openForMembers(CommandContext command, boolean isWrite) {
        Key at = command.keyAt(0);
        Found found = isWrite ? openForWriting(command, at) : open(command, at);
        if (isTree() && command.server().config().touchAhead()) {
            command.prefetchMembers(tree, 2, 1);
        }
        return found;
    }

    private Found opened(CommandContext command, Key at, Found found) {
        context = command;
        key = at;
        if (found == Found.PRESENT) {
            bind(command, at, item);
            if (isTree()) {
                treeEdit.open();
            }
        } else {
            bindMissing();
        }
        return found;
    }

    // --- add members

    /** Adds the arguments from {@code from} on, and creates the set if needed; returns the number of new members. */
    long addArguments(int from) {
        CommandContext command = call();
        if (from == command.argumentCount() - 1) {
            return add(command.argumentAddress(from), command.argumentLength(from)) ? 1 : 0;
        }
        long before = size();
        argument = from;
        if (isTree()) {
            tree.atomically(command.argumentCount() - from, command.longestArgument(from), addArguments);
            if (size() > before) {
                treeChanged();
            }
            return size() - before;
        }
        edit.begin(command, key(), item, isPresent());
        boolean mayStay = true;
        for (int i = from; i < command.argumentCount() && mayStay; i++) {
            if (!contains(command.argumentAddress(i), command.argumentLength(i))) {
                edit.plan(command.argumentAddress(i), command.argumentLength(i));
                mayStay = edit.mayStayPacked();
            }
        }
        if (edit.planned() == 0) {
            return 0;
        }
        if (!mayStay || !edit.staysPacked()) {
            becomeTree(addArguments);
            return size() - before;
        }
        edit.reserve();
        for (int i = from; i < command.argumentCount(); i++) {
            edit.add(command.argumentAddress(i), command.argumentLength(i));
        }
        edit.finish();
        reopen();
        return size() - before;
    }

    /** Adds a member that is not stored in this set, and creates the set if needed; false if the set has it. */
    boolean add(long address, int memberLength) {
        added = address;
        addedLength = memberLength;
        if (isTree()) {
            long before = size();
            addOneToTree();
            if (size() > before) {
                treeChanged();
            }
            return size() > before;
        }
        if (contains(address, memberLength)) {
            return false;
        }
        edit.begin(call(), key(), item, isPresent());
        edit.plan(address, memberLength);
        if (edit.staysPacked()) {
            edit.reserve();
            edit.add(address, memberLength);
            edit.finish();
            reopen();
        } else {
            becomeTree(addOne);
        }
        return true;
    }

    private void addOneToTree() {
        treeEdit.add(call().server().config(), added, addedLength);
    }

    private void addArgumentsToTree() {
        CommandContext command = call();
        for (int i = argument; i < command.argumentCount(); i++) {
            treeEdit.add(command.server().config(), command.argumentAddress(i), command.argumentLength(i));
        }
    }

    private void becomeTree(Runnable how) {
        write = how;
        call().session().makeTree(key(), item, tree, CacheSession.KEEP, fill);
        bindTree();
        treeChanged();
    }

    private void fillTree() {
        for (boolean more = first(); more; more = next()) {
            tree.add(memberAddress(), memberLength());
        }
        treeEdit.open(encoding());
        write.run();
    }

    private void treeChanged() {
        treeEdit.finish();
        call().session().changed(key(), Change.SET);
    }

    // --- remove members

    /** Removes the members in the arguments from {@code from} on; returns the number of removed members. */
    int removeArguments(int from) {
        CommandContext command = call();
        int removed = 0;
        boolean begun = false;
        for (int i = from; i < command.argumentCount() && isPresent(); i++) {
            long address = command.argumentAddress(i);
            int memberLength = command.argumentLength(i);
            if (begun) {
                removed += edit.remove(address, memberLength) ? 1 : 0;
            } else if (contains(address, memberLength)) {
                removed++;
                if (size() == 1) {
                    clear();
                } else if (isTree()) {
                    tree.remove();
                } else {
                    makeFit();
                    edit.remove(address, memberLength);
                    begun = true;
                }
            }
        }
        if (removed > 0 && isPresent()) {
            finishRemoval();
        }
        return removed;
    }

    /** Makes an existing set writable for removals: {@link #remove} then cannot fail. May move it. */
    void makeFit() {
        if (!isTree() && size() > 1) {
            edit.begin(call(), key(), item, true);
            edit.makeFit();
            reopen();
        }
    }

    /** Removes a member after {@link #makeFit}. */
    void remove(long address, int memberLength) {
        if (size() == 1) {
            clear();
            return;
        }
        if (isTree()) {
            tree.remove(address, memberLength);
        } else {
            edit.remove(address, memberLength);
        }
        finishRemoval();
    }

    private void recordMember() {
        if (call().isRecording()) {
            call().recordArgument(memberAddress(), memberLength());
        }
    }

    /**
     * Replies and removes random members of an existing set. Unless they are all, it adds them to the record of the
     * command.
     *
     * @param recordsLast whether the members are added to the record although they are all
     */
    void pop(ReplyWriter reply, long count, long seed, boolean recordsLast) {
        long members = size();
        if (count == members) {
            for (boolean more = first(); more; more = next()) {
                replyMember(reply);
                if (recordsLast) {
                    recordMember();
                }
            }
            clear();
            return;
        }
        if (isTree()) {
            treeEdit.pop(call(), reply, count, seed);
        } else {
            makeFit();
            SelectionSampler sampler = new SelectionSampler(seed, members, count);
            for (boolean more = first(); more && sampler.areMissing(); more = next()) {
                if (sampler.takeNext()) {
                    replyMember(reply);
                    recordMember();
                }
            }
            // Only after the complete reply, because the reply may run out of memory.
            edit.removePicked(new SelectionSampler(seed, members, count), count);
        }
        finishRemoval();
    }

    private void finishRemoval() {
        if (isTree()) {
            call().session().changed(key(), Change.SET);
        } else {
            edit.finishRemoval();
            reopen();
        }
    }

    /** Deletes the key with all members, which needs no memory. */
    private void clear() {
        boolean deleted = call().session().delete(key());
        assert deleted;
        bindMissing();
    }

    private void reopen() {
        if (edit.isDeleted()) {
            bindMissing();
        } else {
            bind(item.valueAddress(), item.valueLength(), item.encoding());
        }
    }

    private CommandContext call() {
        return java.util.Objects.requireNonNull(context);
    }

    private Key key() {
        return java.util.Objects.requireNonNull(key);
    }
}
