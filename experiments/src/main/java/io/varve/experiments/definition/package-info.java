/**
 * The definition of experiments, as their YAML files state it.
 *
 * <p>Lives here: the records that mirror the file, and their reader. Must not live here: anything that runs or
 * measures.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.definition;
