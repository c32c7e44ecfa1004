/**
 * What an experiment is, as its YAML file says it.
 *
 * <p>Lives here: the records that mirror the file, and their reader. Must not live here: anything that runs or measures.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.definition;
