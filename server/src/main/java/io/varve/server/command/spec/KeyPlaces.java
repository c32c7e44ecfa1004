package io.varve.server.command.spec;

import java.util.ArrayList;
import java.util.List;

/** Finds the key arguments of a command that is not in a batch. Immutable: static methods only. */
public final class KeyPlaces {
    private KeyPlaces() {}

    /** The numbers of the arguments that are keys. */
    public static List<Integer> indexes(CommandSpec spec, Arguments arguments) {
        List<Integer> indexes = new ArrayList<>();
        KeyFinder finder = spec.keyFinder();
        if (finder == null) {
            int count = arguments.argumentCount();
            int last = spec.lastKey() < 0 ? count + spec.lastKey() : spec.lastKey();
            for (int i = spec.firstKey(); i > 0 && i <= last && i < count; i += spec.keyStep()) {
                indexes.add(i);
            }
        } else {
            finder.find(arguments, indexes::add);
        }
        return indexes;
    }
}
