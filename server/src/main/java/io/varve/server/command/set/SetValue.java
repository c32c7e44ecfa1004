package io.varve.server.command.set;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.TreeFiller;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.Invocation;
import io.varve.server.command.text.NumberText;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.RandomPicks;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * A set as commands see it, whatever its layout: what {@link SetView} tells of it, and what changes it. Confined to its
 * event loop; reused from command to command, and valid while the shard of its key is locked.
 *
 * <p>What changes a set needs one that was opened for it, and leaves the cursor nowhere. What adds members is refused with a
 * {@link io.varve.memory.item.CacheFullException} before anything is changed. A set that loses its last member goes with its key.
 *
 * <p>A packed set that is to grow beyond {@code packed-max-entries} or {@code packed-max-bytes} becomes a tree, for good; integers
 * stay packed up to {@code set-max-intset-entries}.
 */
public final class SetValue extends SetView {
    private final PackedSetEdit edit;
    private final SetTreeEdit treeEdit = new SetTreeEdit(tree);
    private final Item item = new Item();
    private @Nullable Invocation call;
    private @Nullable Key key;

    /** The writes to a tree; one that is being made gets what they add together with what was packed. */
    private final Runnable addOne = this::addOneToTree;
    private final Runnable addArguments = this::addArgumentsToTree;
    private final TreeFiller fill = this::fillTree;
    private Runnable write = addOne;
    private int argument;
    private long added;
    private int addedLength;

    /** @param text where an integer is written whose bytes are asked for */
    SetValue(NumberText text) {
        super(text);
        edit = new PackedSetEdit(text);
    }

    // --- open

    /** Looks the key up for reading; the error for a wrong type is replied. */
    public Found open(Invocation command, Key at) {
        return opened(command, at, KeyLookup.find(command, at, item, ItemType.SET));
    }

    /** Looks the key up for a change; the error for a wrong type is replied. */
    Found openForWriting(Invocation command, Key at) {
        return opened(command, at, KeyLookup.findForWriting(command, at, item, ItemType.SET));
    }

    private Found opened(Invocation command, Key at, Found found) {
        call = command;
        key = at;
        if (found == Found.PRESENT) {
            look(command, at, item);
            if (isTree()) {
                treeEdit.open();
            }
        } else {
            lookAtNothing();
        }
        return found;
    }

    // --- members come

    /** Adds the arguments from an index on; answers how many are new. The set is made if it is missing. */
    long addArguments(int from) {
        Invocation command = call();
        if (from == command.argumentCount() - 1) {
            return add(command.argumentAddress(from), command.argumentLength(from)) ? 1 : 0;
        }
        long before = size();
        argument = from;
        if (isTree()) {
            tree.together(command.argumentCount() - from, command.longestArgument(from), addArguments);
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
        edit.makeRoom();
        for (int i = from; i < command.argumentCount(); i++) {
            edit.add(command.argumentAddress(i), command.argumentLength(i));
        }
        edit.finish();
        reopen();
        return size() - before;
    }

    /** Adds a member, which does not lie in this set; false if it was there. The set is made if it is missing. */
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
            edit.makeRoom();
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
        Invocation command = call();
        for (int i = argument; i < command.argumentCount(); i++) {
            treeEdit.add(command.server().config(), command.argumentAddress(i), command.argumentLength(i));
        }
    }

    private void becomeTree(Runnable how) {
        write = how;
        call().session().makeTree(key(), item, tree, CacheSession.KEEP, fill);
        lookAtTree();
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

    // --- members go

    /** Removes the arguments from an index on that are members; answers how many were. */
    int removeArguments(int from) {
        Invocation command = call();
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

    /** Makes a set that is there fit to lose members: {@link #remove} then cannot fail. May move it. */
    void makeFit() {
        if (!isTree() && size() > 1) {
            edit.begin(call(), key(), item, true);
            edit.makeFit();
            reopen();
        }
    }

    /** Removes a member of a set that was made fit for it. */
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

    /** Replies and removes members of a set that is there, picked at random. */
    void pop(ReplyWriter reply, long count, long seed) {
        long members = size();
        if (count == members) {
            for (boolean more = first(); more; more = next()) {
                replyMember(reply);
            }
            clear();
            return;
        }
        if (isTree()) {
            treeEdit.pop(call().server().config(), reply, count, seed);
        } else {
            makeFit();
            RandomPicks picks = new RandomPicks(seed, members, count);
            for (boolean more = first(); more && picks.areMissing(); more = next()) {
                if (picks.takeNext()) {
                    replyMember(reply);
                }
            }
            // Only now that the reply is complete, because there may be no room for it.
            edit.removePicked(new RandomPicks(seed, members, count), count);
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

    /** All members go with the key, for which no room is needed. */
    private void clear() {
        boolean deleted = call().session().delete(key());
        assert deleted;
        lookAtNothing();
    }

    private void reopen() {
        if (edit.isGone()) {
            lookAtNothing();
        } else {
            look(item.valueAddress(), item.valueLength(), item.encoding());
        }
    }

    private Invocation call() {
        return java.util.Objects.requireNonNull(call);
    }

    private Key key() {
        return java.util.Objects.requireNonNull(key);
    }
}
